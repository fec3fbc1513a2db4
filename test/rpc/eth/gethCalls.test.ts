import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { EVM_KINDS } from '../../../src/evm/kinds.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { openContext } from '../../../src/rpc/core/openContext.js'
import { runMethod } from '../../../src/rpc/core/runCall.js'
import { call } from '../../../src/rpc/eth/call.js'
import { estimateGas } from '../../../src/rpc/eth/estimateGas.js'
import { packagePath } from '../../../src/store/open.js'
import { createGenesis, writeGenesisChain } from '../../support/chains/genesisChain.js'

/* What geth 1.17.10 answers to calls with fees, blobs, authorizations and too little of everything, on a genesis of
 * Osaka with these accounts: results, codes and words, which must be ours. `gethCalls.json` was recorded from it,
 * started with --rpc.gascap 600000000, which is ten times the block's limit. */

interface Recorded {
  name: string
  call: object
  eth_call: unknown
  eth_estimateGas: unknown
}

const CASES = JSON.parse(readFileSync(packagePath('test/rpc/eth/gethCalls.json'), 'utf8')) as Recorded[]

const contractAt = (number: number) => `0x${'0'.repeat(34)}0c000${number}`
const datadir = await writeGenesisChain(
  { after },
  createGenesis({
    [`0x${'0'.repeat(34)}0a11ce`]: { balance: '0xde0b6b3a7640000' },
    [`0x${'0'.repeat(38)}b0`]: { balance: '0x5f5e100' },
    [contractAt(1)]: { balance: '0x0', code: '0x333160005260206000f3' }, // BALANCE of CALLER
    [contractAt(2)]: { balance: '0x0', code: '0x3260005248602052495f60405260606000f3' }, // a stack underflow
    // GASPRICE, BASEFEE, BLOBBASEFEE, ORIGIN, BLOBHASH
    [contractAt(3)]: { balance: '0x0', code: '0x3a600052486020524a604052326060525f4960805260a06000f3' },
    [contractAt(4)]: { balance: '0x0', code: '0x5b600056' }, // an endless loop
    [contractAt(5)]: { balance: '0x0', code: '0x5a60005260206000f3' }, // GAS
  }),
)

// What the packages of the reference interpreter name otherwise, and loops that it needs more than a test's time for.
const NOT_BY_REFERENCE = new Set(['env', 'spinGas', 'spinCap', 'initStoreLow', 'initBigCode'])

for (const evm of EVM_KINDS) {
  const { context, close } = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger, evm })
  after(close)
  for (const method of [call, estimateGas]) {
    test(`${method.name} answers as geth does, by the interpreter ${evm}`, async () => {
      for (const recorded of CASES) {
        if (evm === 'reference' && NOT_BY_REFERENCE.has(recorded.name)) continue
        const outcome = await runMethod(method, [recorded.call, 'latest'], context)
        const answer = 'error' in outcome ? outcome.error : JSON.parse(Buffer.from(outcome.result).toString())
        assert.deepEqual(answer, recorded[method.name as 'eth_call'], recorded.name)
      }
    })
  }
}
