import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import type { LogFilterObject } from '../../../src/rpc/eth/logFilter.js'
import { logCriteria } from '../../../src/rpc/subscriptions/logCriteria.js'
import { createLogMatcher } from '../../../src/rpc/subscriptions/logMatcher.js'
import { ADDRESSES, inventLog, TOPICS } from '../../support/chains/inventedChain.js'
import { matchesFilter } from '../../support/compare/matchesFilter.js'
import { type SeededRandom, seededRandom } from '../../support/random.js'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

function randomFilter(random: SeededRandom): LogFilterObject {
  const some = (values: Uint8Array[], most: number) =>
    Array.from({ length: random.below(most + 1) }, () => values[random.below(values.length)])
  const topics = Array.from({ length: random.below(5) }, () => (random.below(3) === 0 ? null : some(TOPICS, 3)))
  return { addresses: some(ADDRESSES, 3), topics }
}

test('finds for each log the listeners that the definition of a filter gives, while listeners come and go', () => {
  const random = seededRandom(1401)
  const limits = DEFAULT_LIMITS
  const matcher = createLogMatcher<ReturnType<typeof listen>>()
  const listen = (filter: LogFilterObject) => ({
    filter,
    topic: { criteria: logCriteria({ limits }, filter) },
  })
  const listeners = new Set<ReturnType<typeof listen>>()
  let matches = 0
  for (let step = 0; step < 3_000; step++) {
    const kind = random.below(3)
    if (kind === 0) {
      const listener = listen(randomFilter(random))
      listeners.add(listener)
      matcher.add(listener)
    } else if (kind === 1 && listeners.size > 60) {
      const listener = [...listeners][random.below(listeners.size)]
      listeners.delete(listener)
      matcher.remove(listener)
      matcher.remove(listener)
    } else {
      const log = inventLog(random)
      const found: unknown[] = []
      matcher.match({ address: hex(log.address), topics: log.topics.map(hex) }, (listener) => {
        found.push(listener)
      })
      const wanted = [...listeners].filter(({ filter: { addresses, topics } }) =>
        matchesFilter(log, { fromBlock: 0, toBlock: 0, addresses, topics }),
      )
      assert.equal(found.length, new Set(found).size, 'a listener was called twice')
      assert.deepEqual(new Set(found), new Set(wanted))
      matches += found.length
    }
    assert.equal(matcher.size(), listeners.size)
  }
  assert.ok(matches > 1_000)
})
