import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createInlinePolicy, LARGE_BUDGET_MS, SMALL_BUDGET_MS } from '../../../src/server/admission/inlinePolicy.js'

/** A policy with a clock and threads of the test's own. */
function createTestPolicy(threads = 2) {
  const world = { now: 0, jobs: 0 }
  const policy = createInlinePolicy({ jobs: () => world.jobs, threads }, () => world.now)
  /** A call that takes so long, where it is granted the time: what it was granted. */
  const ask = (name: string, tookMs: number) => {
    const granted = policy.grant(name)
    if (granted !== undefined) {
      world.now += Math.min(tookMs, granted)
      policy.note(name, tookMs <= granted, Math.min(tookMs, granted))
    }
    return granted
  }
  return { world, policy, ask }
}

test('a small call is run each time, however much the threads have to do', () => {
  const { world, policy, ask } = createTestPolicy()
  for (let i = 0; i < 1000; i++) {
    world.jobs = i % 7
    assert.equal(ask('small', 0.02), SMALL_BUDGET_MS)
    if (i % 100 === 0) policy.endTurn()
  }
})

test('a call that does not end is tried ever more rarely', () => {
  const { world, policy, ask } = createTestPolicy()
  let tried = 0
  for (let i = 0; i < 10_000; i++) {
    if (ask('endless', Number.POSITIVE_INFINITY) !== undefined) tried++
    world.now += 1000
    policy.endTurn()
  }
  assert.ok(tried > 10 && tried < 60, `${tried} of 10,000`)
})

test('endless calls under ever new names take a twentieth of the time, and known small ones still run', () => {
  const { world, policy, ask } = createTestPolicy()
  ask('small', 0.02)
  const begun = world.now
  let wasted = 0
  for (let i = 0; i < 20_000; i++) {
    wasted += ask(`endless ${i}`, Number.POSITIVE_INFINITY) ?? 0
    world.now += 0.1
    policy.endTurn()
    assert.equal(ask('small', 0.02), SMALL_BUDGET_MS)
  }
  assert.ok(wasted < 15 + (world.now - begun) / 20, `${wasted} of ${world.now - begun} ms`)
})

test('in one turn, calls take 2 ms beyond what handing them over would', () => {
  const { policy, ask } = createTestPolicy()
  let granted = 0
  for (let i = 0; i < 100; i++) if (ask(`new ${i}`, 0.26) !== undefined) granted++
  assert.ok(granted === 10 || granted === 11, String(granted)) // fractions do not add up exactly
  policy.endTurn()
  assert.equal(ask('new', 0.26), SMALL_BUDGET_MS)
})

test('a larger call is run while calls come one by one, or all threads have enough to do', () => {
  const { world, policy, ask } = createTestPolicy(2)
  ask('large', 0.3)
  policy.endTurn()
  policy.endTurn()
  assert.equal(ask('large', 0.3), LARGE_BUDGET_MS)
  assert.equal(policy.grant('large'), undefined, 'a second one in the same turn')
  world.jobs = 7
  assert.equal(policy.grant('large'), undefined)
  world.jobs = 8
  assert.equal(ask('large', 0.3), LARGE_BUDGET_MS)
  world.jobs = 0
  policy.endTurn()
  assert.equal(policy.grant('large'), undefined, 'several in the turn before')
  policy.endTurn()
  assert.equal(policy.grant('large'), LARGE_BUDGET_MS)
})

test('a call whose first run was slow is small again after some runs', () => {
  const { policy, ask } = createTestPolicy()
  assert.equal(ask('cold', 0.9), SMALL_BUDGET_MS)
  const granted = Array.from({ length: 40 }, () => {
    policy.endTurn()
    return ask('cold', 0.03)
  })
  assert.equal(granted.at(-1), SMALL_BUDGET_MS)
})
