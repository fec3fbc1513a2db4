import assert from 'node:assert/strict'
import { test } from 'node:test'
import { COSTS, type Costs } from '../../tools/simulate/costs.js'
import { simulate } from '../../tools/simulate/model.js'
import { drawExponential, serve } from '../../tools/simulate/queue.js'
import { seededRandom } from '../support/random.js'

/** Mean wait of a queue with random arrivals and equal services, in services: Pollaczek and Khinchine, rho / (2 (1 -
 *  rho)). */
function meanWait(rho: number): number {
  const random = seededRandom(3)
  let atMs = 0
  const jobs = Array.from({ length: 200_000 }, () => {
    atMs += drawExponential(random) / rho
    return { atMs, serviceMs: 1 }
  })
  const { doneMs, utilisation } = serve(jobs, 1)
  assert.ok(Math.abs(utilisation - rho) < 0.01, `utilisation ${utilisation}`)
  return doneMs.reduce((sum, done, i) => sum + done - jobs[i].atMs - 1, 0) / jobs.length
}

test('a queue waits as long as queueing theory says', () => {
  for (const rho of [0.3, 0.6, 0.8]) {
    const expected = rho / (2 * (1 - rho))
    assert.ok(Math.abs(meanWait(rho) / expected - 1) < 0.05, `${rho}: ${meanWait(rho)} for ${expected}`)
  }
})

test('jobs are done in order by one server, and at once by enough of them', () => {
  const jobs = [0, 0, 1].map((atMs) => ({ atMs, serviceMs: 2 }))
  assert.deepEqual(serve(jobs, 1), { doneMs: [2, 4, 6], utilisation: 1 })
  assert.deepEqual(serve(jobs, 3), { doneMs: [2, 2, 3], utilisation: 6 / 9 })
})

test('the simulation follows its costs: twice the cost of a part is twice its use', () => {
  const plan = { blockSeconds: 12, blocks: 5_000, replicas: 3, readCores: 3, answersPerSecond: 1_000, seed: 1 }
  const useOf = (costs: Costs, name: string) =>
    simulate(costs, plan).stations.find((station) => station.name === name)!.utilisation
  const name = 'replica: verify, apply'
  const twice = { ...COSTS, applyMs: { ...COSTS.applyMs, value: 2 * COSTS.applyMs.value } }
  assert.ok(Math.abs(useOf(twice, name) / useOf(COSTS, name) - 2) < 0.01)
  const expected = COSTS.applyMs.value / 12_000
  assert.ok(Math.abs(useOf(COSTS, name) / expected - 1) < 0.05)
  assert.deepEqual(simulate(COSTS, plan), simulate(COSTS, plan))
})
