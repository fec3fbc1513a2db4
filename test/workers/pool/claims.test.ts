import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClaimMemory, openClaims } from '../../../src/workers/pool/claims.js'

function bothSides(slots: number) {
  const memory = createClaimMemory(slots)
  return { main: openClaims(memory), thread: openClaims(memory) }
}

test('a request is begun or taken back, never both', () => {
  const { main, thread } = bothSides(2)
  const [first, second] = [main.offer()!, main.offer()!]
  assert.equal(thread.begin(first, 1.5), true)
  assert.equal(main.withdraw(first), false)
  assert.deepEqual([main.begunMs(first), main.begunMs(second)], [1.5, undefined])
  assert.equal(main.withdraw(second), true)
  assert.equal(thread.begin(second, 2), false)
})

test('a slot is used again once the outcome is there, or the thread has passed over it', () => {
  const { main, thread } = bothSides(2)
  const [first, second] = [main.offer()!, main.offer()!]
  assert.equal(main.offer(), undefined)
  thread.begin(first, 1.5)
  main.withdraw(second)
  assert.equal(main.offer(), undefined, 'neither has been seen through')
  main.free(first)
  assert.equal(main.offer(), first)
  assert.equal(thread.begin(second, 2), false)
  assert.equal(main.offer(), second)
})

test('a thread learns that a request it has begun is aborted, and its slot is used again', () => {
  const { main, thread } = bothSides(2)
  const [first, second] = [main.offer()!, main.offer()!]
  thread.begin(first, 1.5)
  main.abort(first)
  main.abort(second) // not begun
  assert.deepEqual([thread.isAborted(first), thread.isAborted(second)], [true, false])
  assert.equal(main.begunMs(first), 1.5)
  main.free(first)
  assert.equal(main.offer(), first)
  assert.equal(thread.isAborted(first), false)
})

test('a thread learns that it is to stop', () => {
  const { main, thread } = bothSides(3)
  assert.equal(thread.stopRequested(), false)
  main.requestStop()
  assert.equal(thread.stopRequested(), true)
  assert.equal(thread.begin(main.offer()!, 1), true)
})

test('whoever comes later sees the other: a step without termination is not begun, or waited for', () => {
  const late = bothSides(1)
  late.main.requestStop()
  assert.equal(late.main.isUnterminable(), false)
  late.thread.setUnterminable(true)
  assert.equal(late.thread.stopRequested(), true, 'the thread ends itself')
  const early = bothSides(1)
  early.thread.setUnterminable(true)
  assert.equal(early.thread.stopRequested(), false)
  early.main.requestStop()
  assert.equal(early.main.isUnterminable(), true, 'the main thread waits')
  early.thread.setUnterminable(false)
  assert.equal(early.main.isUnterminable(), false)
})
