import type { Seeded } from '../../support/seeded.js';
import { Asker } from './asker.js';
import { Deliverer } from './deliverer.js';
import { ScheduleOwner } from './schedule-owner.js';
import { Watcher } from './watcher.js';
import type { World } from './world.js';

/** Runs the clients of the seed. Resolves once all of them are done. */
export async function workload(world: World): Promise<void> {
  const { parts } = world;
  const random = world.simulation.random('workload');
  const askers = some(random.between(0, 2), (index) => new Asker(world, `asker${index}`));
  const deliverers = askers.length === 0 || random.oneIn(2) ? [new Deliverer(world, 'shop')] : [];
  const owners = some(world.rooms.schedules ? random.between(1, 2) : 0, (index) => new ScheduleOwner(world, `owner${index}`));
  const works = [
    ...askers.map((asker) => ({ who: asker.name, times: random.between(1, 3), work: asksAndFollowsUp(world, asker, random) })),
    ...deliverers.map((deliverer) => ({
      who: 'shop',
      times: random.between(1, 3),
      work: (times: number) => deliverer.run(times),
    })),
    ...owners.map((owner) => ({ who: owner.name, times: random.between(0, 4), work: (wishes: number) => owner.run(wishes) })),
  ];
  await Promise.all(works.filter(({ who }) => parts.has(who)).map(({ times, work }) => work(times)));
}

const some = <T>(length: number, each: (index: number) => T): T[] => Array.from({ length }, (_, index) => each(index));

function asksAndFollowsUp(world: World, asker: Asker, random: Seeded) {
  const [stopsJobs, watches, deletes] = [random.oneIn(3), random.oneIn(2), random.oneIn(6)];
  return async (questions: number): Promise<void> => {
    await asker.run(questions);
    const { conversation, name } = asker;
    if (conversation === undefined) return;
    if (world.rooms.schedules && world.parts.has(`what ${name} wants done later`)) {
      const chat = { ownerId: name, agentId: null, conversationId: conversation };
      await new ScheduleOwner(world, `chat of ${name}`, chat).runOnce();
    }
    if (world.rooms.followUps) {
      const watcher = new Watcher(world, name, conversation);
      if (stopsJobs && world.parts.has(`the stops of ${name}`)) await watcher.stopsJobs();
      if (watches && world.parts.has(`the monitor of ${name}`)) await watcher.watch();
    }
    if (deletes && world.parts.has(`the deletion of ${name}`)) await asker.deletes();
  };
}
