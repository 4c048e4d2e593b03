// Asks an agent whose tools need approval, and lets the user approve or deny each call on the terminal.
//   node approve.mjs "question"
// VERBATIM_URL: the service; VERBATIM_AGENT_ID: the agent; VERBATIM_TOKEN: the session token of its owner
// (not needed if AUTH_TYPE is none).
import { createInterface } from 'node:readline';

const { VERBATIM_URL = 'http://127.0.0.1:7091', VERBATIM_AGENT_ID, VERBATIM_TOKEN } = process.env;
const [question] = process.argv.slice(2);
const terminal = createInterface({ input: process.stdin });
const lines = terminal[Symbol.asyncIterator]();

let answer = await send({ question, agent_id: VERBATIM_AGENT_ID });
while (answer.pending_tool_calls?.length > 0) {
  const decisions = [];
  for (const { call_id, tool_name, action_name, arguments: given } of answer.pending_tool_calls) {
    console.log(`approve ${tool_name}.${action_name} ${JSON.stringify(given)}? [y/n]`);
    const { value: line = 'n' } = await lines.next();
    const isApproved = line.trim() === 'y';
    decisions.push({ call_id, decision: isApproved ? 'approved' : 'denied', ...(!isApproved && { comment: 'Not now.' }) });
  }
  answer = await send({ conversation_id: answer.conversation_id, tool_actions: decisions });
}
terminal.close();

for (const { action_name, status } of answer.tool_calls) console.log(`call: ${action_name} ${status}`);
console.log(`answer: ${answer.answer}`);

async function send(body) {
  const response = await fetch(`${VERBATIM_URL}/api/answer`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(VERBATIM_TOKEN && { Authorization: `Bearer ${VERBATIM_TOKEN}` }) },
    body: JSON.stringify(body),
  });
  const reply = await response.json();
  if (!response.ok) throw new Error(`${response.status} ${JSON.stringify(reply)}`);
  return reply;
}
