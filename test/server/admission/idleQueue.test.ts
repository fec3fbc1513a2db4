import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createIdleQueue, createQueueEntry, unlink } from '../../../src/server/admission/idleQueue.js'
import { seededRandom } from '../../support/random.js'

test('the oldest is what was appended first and the newest what was appended last, whatever is appended again, moved to another queue or taken out', () => {
  const random = seededRandom(7)
  const entries = Array.from({ length: 20 }, (_, i) => createQueueEntry(i))
  const queues = [createIdleQueue<number>(), createIdleQueue<number>()]
  const lists: number[][] = [[], []]
  for (let step = 0; step < 5000; step++) {
    const entry = entries[random.below(entries.length)]
    for (const list of lists) if (list.includes(entry.value)) list.splice(list.indexOf(entry.value), 1)
    const to = random.below(3)
    if (to === 2) unlink(entry)
    else {
      queues[to].append(entry)
      lists[to].push(entry.value)
    }
    assert.deepEqual([queues[0].oldest(), queues[1].oldest()], [lists[0][0], lists[1][0]])
    assert.deepEqual([queues[0].newest(), queues[1].newest()], [lists[0].at(-1), lists[1].at(-1)])
  }
})
