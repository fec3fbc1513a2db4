import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fork } from '../../../../src/chain/eth/forks/rules.js'
import { silentLogger } from '../../../../src/lib/logger.js'
import { DEFAULT_LIMITS } from '../../../../src/rpc/core/limits.js'
import { openContext } from '../../../../src/rpc/core/openContext.js'
import { createForkGenesis } from '../../../support/chains/forkGenesis.js'
import { writeGenesisChain } from '../../../support/chains/genesisChain.js'
import { callMethod } from '../../../support/compare/traces.js'

/* Differences of accounts that are deleted, as geth 1.17.10 has them. */

const addressOf = (byte: string) => `0x${'00'.repeat(19)}${byte}`
const [FROM, CALLER, DELETED, DONOR] = ['aa', 'c1', 'c0', 'dd'].map(addressOf)

interface Difference {
  pre: Record<string, object>
  post: Record<string, object>
}

/** The difference of a call that deletes a contract, and pays it what it had from another one that is deleted. */
async function difference(t: { after(callback: () => void | Promise<void>): void }, fork: Fork): Promise<Difference> {
  const callOf = (byte: string) => `6000600060006000600060${byte}612710f150`
  const alloc = {
    [FROM]: { balance: '0xde0b6b3a7640000' },
    [CALLER]: { balance: '0x0', code: `0x${callOf('c0')}${callOf('dd')}` },
    [DELETED]: { balance: '0x5', code: '0x60c1ff' },
    [DONOR]: { balance: '0x5', code: '0x60c0ff' },
  }
  const datadir = await writeGenesisChain(t, createForkGenesis(fork, alloc))
  const { context, close } = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
  t.after(close)
  const config = { tracer: 'prestateTracer', tracerConfig: { diffMode: true } }
  return callMethod<Difference>(context, 'debug_traceCall', [
    { from: FROM, to: CALLER, gas: '0x30d40' },
    'latest',
    config,
  ])
}

test('a deleted account is only in the state before, even if it was paid again what it had', async (t) => {
  for (const fork of ['frontier', 'london', 'shanghai'] as const) {
    const { pre, post } = await difference(t, fork)
    for (const address of [DELETED, DONOR]) {
      assert.ok(address in pre, `${fork}: ${address} before`)
      assert.ok(!(address in post), `${fork}: ${address} after`)
    }
  }
})

test('an account that SELFDESTRUCT no longer deletes has its difference', async (t) => {
  const { pre, post } = await difference(t, 'cancun')
  assert.ok(!(DELETED in pre) && !(DELETED in post))
  assert.deepEqual(post[DONOR], { balance: '0x0' })
})
