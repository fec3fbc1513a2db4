import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { loadEvmService } from '../../../src/evm/calls/loadEvmService.js'
import { CallMemoryExceeded } from '../../../src/evm/errors.js'
import { deadlineAfter } from '../../../src/lib/deadline.js'
import { parseHex } from '../../../src/lib/hex.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { openForReading } from '../../../src/store/open.js'
import { asCode, LOG_BOMB, MEMORY_BOMBS } from '../../support/chains/bombs.js'
import { createGenesis, writeGenesisChain } from '../../support/chains/genesisChain.js'
import { evmOutcome } from '../../support/evmOutcome.js'

const CODES = { ...MEMORY_BOMBS, LOG_BOMB, ANSWER: '602a5f5260205ff3' }
const names = Object.keys(CODES)
const addressOf = (name: string) => `0x${(0xb0_0000 + names.indexOf(name)).toString(16).padStart(40, '0')}`
const alloc = Object.fromEntries(
  Object.entries(CODES).map(([name, code]) => [addressOf(name), { balance: '0x1', code: asCode(code) }]),
)
const datadir = await writeGenesisChain({ after }, createGenesis(alloc, { gasLimit: 2n ** 50n }))
const db = openForReading(datadir)
after(() => void db.close())
const LIMITS = { ...DEFAULT_LIMITS, callMemoryBytes: 2 ** 21 }

test('a budget of memory ends calls of the reference interpreter too, and the next one is as it should be', async () => {
  const service = await loadEvmService(db, 'reference')
  const call = (name: string, gas: bigint) =>
    evmOutcome(service, (evm) => evm.call({ to: parseHex(addressOf(name)), gas }, 0, LIMITS, deadlineAfter(60_000)))
  for (const name of Object.keys(MEMORY_BOMBS)) {
    await assert.rejects(call(name, 500_000_000n), CallMemoryExceeded, name)
    assert.equal((await call('ANSWER', 100_000n))[31], 42)
  }
  await assert.rejects(call('LOG_BOMB', 200_000_000n), /out of gas/)
})
