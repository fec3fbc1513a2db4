import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { clampGas } from '../../../src/evm/calls/callContext.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { openContext } from '../../../src/rpc/core/openContext.js'
import { runMethod } from '../../../src/rpc/core/runCall.js'
import { call } from '../../../src/rpc/eth/call.js'
import { estimateGas } from '../../../src/rpc/eth/estimateGas.js'
import { createGenesis, writeGenesisChain } from '../../support/chains/genesisChain.js'

test('the smaller of the two caps holds, and by default ten blocks as long as blocks are ordinary', () => {
  assert.equal(clampGas(30_000_000n, undefined, DEFAULT_LIMITS), 300_000_000n)
  assert.equal(clampGas(200_000_000n, 2n ** 63n, DEFAULT_LIMITS), 2_000_000_000n)
  assert.equal(clampGas(200_000_001n, 2n ** 63n, DEFAULT_LIMITS), 2_000_000_000n)
  assert.equal(clampGas(2n ** 62n, undefined, DEFAULT_LIMITS), 2_000_000_000n)
  assert.equal(clampGas(2n ** 62n, 21_000n, DEFAULT_LIMITS), 21_000n)
  assert.equal(clampGas(100n, 2n ** 63n, { gasCapPercent: 250, maxCallGas: 249 }), 249n)
})

const GAS = `0x${'0'.repeat(36)}0ca5`
const datadir = await writeGenesisChain(
  { after },
  createGenesis({ [GAS]: { balance: '0x0', code: '0x5a5f5260205ff3' } }, { forks: 'cancun', gasLimit: 2n ** 50n }),
)

test('a call sees the gas that the absolute cap leaves it, and an estimate ends there', async () => {
  const { context, close } = openContext({
    datadir,
    limits: { ...DEFAULT_LIMITS, maxCallGas: 1_000_000 },
    log: silentLogger,
  })
  after(close)
  const answer = async (method: typeof call, request: object) => {
    const outcome = await runMethod(method, [request, 'latest'], context)
    return 'error' in outcome ? outcome.error.message : JSON.parse(Buffer.from(outcome.result).toString())
  }
  assert.equal(BigInt(await answer(call, { to: GAS })), 1_000_000n - 21_000n - 2n)
  const endless = { data: '0x5b5f56', gas: '0xffffffffffff' }
  assert.equal(await answer(estimateGas, endless), 'gas required exceeds allowance (1000000)')
})
