import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFairQueue } from '../../../src/workers/pool/fairQueue.js'

interface Job {
  client: string
  n: number
}

const jobs = (client: string, count: number) => Array.from({ length: count }, (_, n): Job => ({ client, n }))

function fill(...lists: Job[][]) {
  const queue = createFairQueue<Job>()
  for (const job of lists.flat()) queue.push(job)
  return queue
}

function drain(queue: ReturnType<typeof fill>): string {
  const names: string[] = []
  for (let job = queue.take(); job !== undefined; job = queue.take()) names.push(`${job.client}${job.n}`)
  return names.join(' ')
}

test('clients take turns, each in the order of its requests', () => {
  const queue = fill(jobs('a', 4), jobs('b', 1), jobs('c', 2))
  assert.deepEqual([queue.size(), queue.clientCount()], [7, 3])
  assert.equal(drain(queue), 'a0 b0 c0 a1 c1 a2 a3')
  assert.deepEqual([queue.size(), queue.clientCount()], [0, 0])
})

test('a client that may not take its turn keeps it', () => {
  const queue = fill(jobs('a', 2), jobs('b', 2))
  assert.deepEqual(
    queue.take((client) => client !== 'a'),
    { client: 'b', n: 0 },
  )
  assert.equal(
    queue.take(() => false),
    undefined,
  )
  assert.equal(drain(queue), 'a0 b1 a1')
})

test('what is put back comes before what its client asked for later', () => {
  const queue = fill(jobs('a', 4), jobs('b', 1))
  const taken = [queue.take()!, queue.take()!, queue.take()!]
  queue.putBack(taken)
  assert.equal(queue.size(), 5)
  assert.equal(drain(queue), 'a0 b0 a1 a2 a3')
})

test('a request is removed once', () => {
  const [first, second] = jobs('a', 2)
  const queue = fill([first, second])
  assert.deepEqual([queue.remove(first), queue.remove(first), queue.size()], [true, false, 1])
  assert.deepEqual([queue.remove(second), queue.clientCount(), queue.first('a')], [true, 0, undefined])
})

test('the newest request of the client that has the most can be taken out', () => {
  const queue = fill(jobs('a', 1), jobs('b', 3))
  assert.deepEqual(queue.takeFromGreediest(), { client: 'b', n: 2 })
  assert.equal(drain(queue), 'a0 b0 b1')
  assert.equal(queue.takeFromGreediest(), undefined)
})
