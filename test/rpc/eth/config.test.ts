import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { crc32 } from 'node:zlib'
import { bigIntToFixedBytes } from '../../../src/lib/bytes.js'
import { formatData } from '../../../src/lib/hex.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { openContext } from '../../../src/rpc/core/openContext.js'
import { runMethod } from '../../../src/rpc/core/runCall.js'
import { config } from '../../../src/rpc/eth/config.js'
import { createGenesis, writeGenesisChain } from '../../support/chains/genesisChain.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { writeHandmadeChain } from './handmadeChain.js'

interface ForkConfig {
  activationTime: number
  blobSchedule: { target: number; max: number; baseFeeUpdateFraction: number } | null
  forkId?: string
  precompiles: { [name: string]: string }
  systemContracts: { [name: string]: string }
}

async function readConfig(t: TestContext, datadir: string) {
  const { context, close } = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
  t.after(() => close())
  const outcome = await runMethod(config, [], context)
  assert.ok('result' in outcome)
  const result = JSON.parse(Buffer.from(outcome.result).toString())
  return {
    ...(result as { [name in 'current' | 'next' | 'last']: ForkConfig | null }),
    hash: context.chain.blockHash(0),
  }
}

const forkId = (...parts: Uint8Array[]) =>
  formatData(bigIntToFixedBytes(BigInt(parts.reduce((checksum, part) => crc32(part, checksum), 0)), 4))

test('reports the fork of the head, the next and the last one, but none that is never reached', async (t) => {
  const genesis = createGenesis({}, { forks: 'cancun' }) as { config: object }
  const schedule = { pragueTime: 100, osakaTime: 200, amsterdamTime: 300, bpo5Time: '18446744073709551615' }
  const config = { ...genesis.config, ...schedule }
  // The head is block 0.
  const { current, next, last, hash } = await readConfig(
    t,
    await writeGenesisChain(t, { ...genesis, config, timestamp: '0x96' }),
  )
  assert.deepEqual(
    [current, next, last].map((fork) => [fork?.activationTime, fork?.blobSchedule?.max]),
    [
      [0, 9],
      [200, 9],
      [300, 9],
    ],
  )
  const [osaka, amsterdam] = [bigIntToFixedBytes(200n, 8), bigIntToFixedBytes(300n, 8)]
  assert.deepEqual(
    [current?.forkId, next?.forkId, last?.forkId],
    [forkId(hash!), forkId(hash!, osaka), forkId(hash!, osaka, amsterdam)],
  )
  assert.deepEqual(
    [current, next].map((fork) => fork?.precompiles.P256VERIFY),
    [undefined, '0x0000000000000000000000000000000000000100'],
  )
  const added = Object.entries(last!.systemContracts).filter(([name]) => !(name in next!.systemContracts))
  assert.deepEqual(Object.fromEntries(added), {
    BUILDER_DEPOSIT_CONTRACT_ADDRESS: '0x0000bff46984e3725691fa540a8c7589300d8282',
    BUILDER_EXIT_CONTRACT_ADDRESS: '0x000064d678505ad48f8ccb093bc65613800e8282',
  })
})

test('is all null on a chain whose forks are all by block number', async (t) => {
  const datadir = temporaryDirectory(t)
  writeHandmadeChain(datadir)
  const { current, next, last } = await readConfig(t, datadir)
  assert.deepEqual({ current, next, last }, { current: null, next: null, last: null })
})
