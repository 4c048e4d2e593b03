import { describe, expect, it } from '@jest/globals';
import { decideApproval } from './approval.policy.js';
import { denylistLabel, digestOfCommand, normalForm, segmentsOf } from '../device/command.policy.js';

describe('the segments of a command', () => {
  it.each([
    ['ls -la', ['ls -la']],
    ['a && b || c; d | e', ['a', 'b', 'c', 'd', 'e']],
    ['a & b\nc', ['a', 'b', 'c']],
    ['echo "a && b" && c', ['echo "a && b"', 'c']],
    [`echo 'a;b' ; echo a\\;b`, [`echo 'a;b'`, 'echo a\\;b']],
    ['make 2>&1 | tee log', ['make 2>&1', 'tee log']],
    ['  ;; ', []],
  ])('of %j are found', (command, segments) => expect(segmentsOf(command)).toEqual(segments));
});

describe('the normal form', () => {
  it.each([
    ['ls', 'ls'],
    ['ls -la /tmp', 'ls *'],
    ['ls *.txt', 'ls *'],
    ['git status', 'git status'],
    ['git checkout main -- file.txt', 'git checkout *'],
    ['git commit -m "All is well"', 'git commit *'],
    ['ls /tmp && whoami', 'ls * && whoami'],
    ['ls /tmp; whoami', 'ls * && whoami'],
  ])('of %j is %j', (command, form) => expect(normalForm(command)).toBe(form));

  it.each([
    'ls $(rm -rf x)',
    'ls `rm x`',
    'ls "$(rm x)"',
    'ls > /etc/passwd',
    'ls <(rm x)',
    'sudo ls /tmp',
    'bash -c "rm x"',
    '/usr/bin/env rm x',
    'LD_PRELOAD=./x.so ls /tmp',
    'find . -delete',
    'python3.12 -c x',
    'npx eslint',
    'deno run x.ts',
    'tar cf x.tar y',
    'flock lock rm x',
    'docker run alpine',
    'kubectl exec pod',
    'uv run x.py',
    'pnpm dlx x',
    'git -c core.pager=./x log',
    'git "push" origin',
    '"ls" /tmp',
  ])('of %j allows only that command', (command) => {
    const form = normalForm(command)!;
    expect(form).toContain(digestOfCommand(command).slice(0, 16));
    expect(normalForm(`${command} y`)).not.toBe(form);
  });

  it('of an empty command is undefined', () => expect(normalForm(' ; ')).toBeUndefined());
});

describe('the denylist', () => {
  it.each([
    ['rm -rf /', 'rm -rf /'],
    ['rm -fr /*', 'rm -rf /'],
    ['rm --recursive --force -- //', 'rm -rf /'],
    ['cd / && sudo /bin/rm -r -f /.', 'rm -rf /'],
    [`r""m -rf '/'`, 'rm -rf /'],
    ['r\\m -rf /', 'rm -rf /'],
    ['rm${IFS}-rf${IFS}/', 'rm -rf /'],
    ['bash -c "rm -rf /"', 'rm -rf /'],
    ['echo $(rm -rf /)', 'rm -rf /'],
    ['rm -rf ~', 'rm -rf ~'],
    ['rm -rf ~/', 'rm -rf ~'],
    ['rm -rf "$HOME"', 'rm -rf $HOME'],
    ['rm -rf ${HOME}/', 'rm -rf $HOME'],
    [':(){ :|:& };:', 'fork bomb'],
    ['bomb() { bomb | bomb & }; bomb', 'fork bomb'],
    ['dd if=/dev/zero of=/dev/sda', 'dd to block device'],
    ['mkfs.ext4 /dev/sdb1', 'mkfs'],
    ['sudo shutdown -h now', 'shutdown'],
    ['halt', 'halt'],
    ['systemctl poweroff', 'poweroff'],
    ['init 0', 'init 0/6'],
    ['git push --force', 'git push --force'],
    ['git -C repo push -f origin main', 'git push --force'],
    ['git push origin +main', 'git push --force'],
  ])('matches %j', (command, label) => expect(denylistLabel(command)).toBe(label));

  it.each(['ls /', 'rm -rf build', 'rm /tmp/x', 'rm -rf ~/build', 'git push origin main', 'dd if=a of=b', 'git log -f'])(
    'does not match %j',
    (command) => expect(denylistLabel(command)).toBeUndefined(),
  );
});

describe('the approval mode of a command', () => {
  const ask = { approvalMode: 'ask', patterns: ['ls *', 'rm *'] } as const;
  const full = { approvalMode: 'full', patterns: [] } as const;
  it.each([
    [ask, 'rm -rf /', 'ask', 'denylist_forced_prompt'],
    [full, 'rm -rf /', 'ask', 'denylist_forced_prompt'],
    [full, 'rm x', 'full', 'full_access_passthrough'],
    [ask, 'ls /etc', 'full', 'sticky_auto_approve'],
    [ask, 'ls $(rm x)', 'ask', 'user_approval_required'],
    [ask, 'whoami', 'ask', 'user_approval_required'],
  ] as const)('on a device with %j, for %j, is %s because of %s', (policy, command, mode, reason) =>
    expect(decideApproval(policy, command)).toEqual({ mode, reason, commandSha256: digestOfCommand(command) }),
  );
});
