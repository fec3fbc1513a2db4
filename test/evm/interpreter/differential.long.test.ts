import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFuzzer } from '../../../tools/fuzz-evm/fuzz.js'
import { FUZZED_FORKS } from '../../../tools/fuzz-evm/generate.js'
import { THOROUGH } from '../../support/thorough.js'

const WORLDS_PER_FORK = THOROUGH ? 40 : 15
const SEED = 7_000_000

test('agrees with @ethereumjs/evm on random programs of every fork', async (t) => {
  const fuzzer = await createFuzzer()
  for (const fork of FUZZED_FORKS) {
    await t.test(fork, async () => {
      for (let i = 0; i < WORLDS_PER_FORK; i++) {
        const finding = await fuzzer.compare(SEED + i, fork)
        assert.equal(finding, undefined, finding && `seed ${finding.seed}: ${finding.difference}`)
      }
    })
  }
  const { worlds, transactions, programs } = fuzzer.counts()
  assert.equal(worlds, WORLDS_PER_FORK * FUZZED_FORKS.length)
  assert.ok(transactions > worlds && programs > worlds, `${transactions} transactions, ${programs} programs`)
})
