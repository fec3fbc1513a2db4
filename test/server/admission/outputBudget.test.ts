import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OutputBudget, type OutputShare, type Reservation } from '../../../src/server/admission/outputBudget.js'

const MB = 1_000_000

/** Reserves room; what came of it is in the list. */
function reserve(budget: OutputBudget, outputShare: OutputShare, bytes: number, owner: unknown = outputShare) {
  const reservations: Reservation[] = []
  const state = { reservations, isGivenUp: false, isGone: false }
  budget.reserve(outputShare, owner, bytes, {
    request: { begin: (reservation) => void reservations.push(reservation), isGone: () => state.isGone },
    onGiveUp: () => {
      state.isGivenUp = true
    },
  })
  return state
}

const turn = () => new Promise(setImmediate)

test('a request waits until there is room for its answer, small ones have the last quarter', async () => {
  const budget = new OutputBudget({ totalBytes: 100 * MB, connectionBytes: 32 * MB })
  const outputShares = [1, 2, 3].map(() => budget.open())
  const [first, second] = [reserve(budget, outputShares[0], 40 * MB), reserve(budget, outputShares[1], 40 * MB)]
  assert.deepEqual([first.reservations.length, second.reservations.length, budget.isContended()], [1, 0, true])
  const small = reserve(budget, outputShares[2], 60_000)
  assert.equal(small.reservations.length, 1)
  first.reservations[0].release()
  await turn()
  assert.deepEqual([second.reservations.length, budget.isContended()], [1, false])
  for (const { reservations } of [second, small]) reservations[0].release()
  second.reservations[0].release()
  assert.equal(budget.usedBytes(), 0)
})

test('owners have turns, however many requests of one of them wait', async () => {
  const budget = new OutputBudget({ totalBytes: 100 * MB, connectionBytes: 100 * MB })
  const outputShare = budget.open()
  const begun: string[] = []
  const reservations: Reservation[] = []
  const ask = (owner: string, name: string) =>
    budget.reserve(outputShare, owner, 75 * MB, {
      request: {
        begin(reservation) {
          begun.push(name)
          reservations.push(reservation)
        },
        isGone: () => false,
      },
      onGiveUp: () => assert.fail('no request waits that long'),
    })
  for (const name of ['a1', 'a2', 'a3', 'a4']) ask('a', name)
  ask('b', 'b1')
  ask('b', 'b2')
  while (reservations.length > 0) {
    reservations.shift()!.release()
    await turn()
  }
  assert.deepEqual(begun, ['a1', 'a2', 'b1', 'a3', 'b2', 'a4'])
})

test('a request waits ten seconds at most, and not for a client that has left', () => {
  const budget = new OutputBudget({ totalBytes: 100 * MB, connectionBytes: 32 * MB })
  const outputShare = budget.open()
  reserve(budget, outputShare, 70 * MB)
  const [late, gone] = [reserve(budget, outputShare, 10 * MB), reserve(budget, outputShare, 10 * MB)]
  gone.isGone = true
  budget.sweep(performance.now())
  assert.deepEqual([late.isGivenUp, gone.isGivenUp], [false, true])
  budget.sweep(performance.now() + 11_000)
  assert.equal(late.isGivenUp, true)
  assert.equal(budget.isContended(), false)
})

test('a response that is longer than expected is kept only if there is memory for it', () => {
  const budget = new OutputBudget({ totalBytes: 100 * MB, connectionBytes: 10 * MB })
  const [a, b] = [budget.open(), budget.open()]
  const first = budget.reserveNow(a, 60 * MB)
  assert.ok(first, 'one answer of a connection may be longer than its share')
  assert.equal(budget.reserveNow(a, 1 * MB), undefined)
  assert.ok(!a.hasRoom() && b.hasRoom())
  const { reservations } = reserve(budget, b, 60_000)
  assert.equal(reservations[0].resize(41 * MB), false)
  assert.equal(reservations[0].resize(39 * MB), true)
  reservations[0].release()
  first.release()
  assert.equal(budget.usedBytes(), 0)
})

test('when batches fill the memory together, the oldest continues and the others wait for it', async () => {
  const budget = new OutputBudget({ totalBytes: 100 * MB, connectionBytes: 100 * MB })
  const [old, young] = [0, 1].map(() => reserve(budget, budget.open(), 60_000).reservations[0])
  for (let i = 0; i < 40; i++) assert.ok(old.add(1 * MB) && young.add(1 * MB))
  assert.equal(old.wait(), undefined)
  let isWoken = false
  void young.wait()?.then(() => {
    isWoken = true
  })
  assert.ok(old.add(19 * MB))
  assert.ok(!young.add(2 * MB), 'there is no more')
  await turn()
  assert.equal(isWoken, false)
  old.resize(59 * MB)
  await turn()
  assert.equal(isWoken, true)
  assert.ok(young.wait() !== undefined, 'what is ready is to be taken first')
  old.release()
  assert.equal(young.wait(), undefined)
})
