import { forkHashAt } from '../../chain/eth/forkId.js'
import { type BlobSchedule, type ChainSpec, type Rules, rulesAt } from '../../chain/eth/forks/rules.js'
import { bigIntToFixedBytes } from '../../lib/bytes.js'
import { formatData, formatQuantity } from '../../lib/hex.js'
import { findBlock } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { CONFIG_SCHEMA } from './schemas.js'
import { compareBigInts } from './suggestTip.js'

export const config = defineMethod({
  name: 'eth_config',
  summary: 'Configuration of the current, the next and the last scheduled fork (EIP-7910).',
  description:
    '`current` is the fork in force at the head, null before the first fork by time (Shanghai). `next` and `last` are null ' +
    'if no later fork is scheduled. `forkId` is absent for a chain from a genesis file whose block 0 is not available.',
  cost: 'point',
  classes: ['node'],
  params: [],
  result: { name: 'configuration', schema: CONFIG_SCHEMA },
  errors: [],
  handler: ({ chain }) => {
    const spec = chain.spec()
    const headTime = findBlock(chain, 'latest')!.header.timestamp
    const times = scheduledTimes(spec)
    const next = times.find((time) => time > headTime)
    const genesisHash = chain.blockHash(0)
    const describe = (time: bigint | undefined) => (time === undefined ? null : describeFork(spec, genesisHash, time))
    return {
      current: describe(times.filter((time) => time <= headTime).at(-1)),
      next: describe(next),
      last: next === undefined ? null : describe(times.at(-1)),
    }
  },
})

/** Activation times, ascending. Genesis files write "never" as a time beyond all others. */
function scheduledTimes({ activations }: ChainSpec): bigint[] {
  const times = activations.flatMap(({ timestamp }) => timestamp ?? [])
  return times.filter((time) => time <= Number.MAX_SAFE_INTEGER).sort(compareBigInts)
}

function describeFork(spec: ChainSpec, genesisHash: Uint8Array | undefined, time: bigint) {
  const rules = rulesAt(spec, Number.MAX_SAFE_INTEGER, time)
  const forkHash = forkHashAt(spec, genesisHash, time)
  return {
    activationTime: time <= (spec.genesisTime ?? 0n) ? 0 : Number(time),
    blobSchedule: rules.blobs ? describeBlobs(rules.blobs) : null,
    chainId: formatQuantity(spec.chainId),
    forkId: forkHash === undefined ? undefined : formatData(bigIntToFixedBytes(BigInt(forkHash), 4)),
    precompiles: namePrecompiles(rules),
    systemContracts: nameSystemContracts(spec, rules),
  }
}

function describeBlobs({ target, max, baseFeeUpdateFraction }: BlobSchedule) {
  return { target, max, baseFeeUpdateFraction: Number(baseFeeUpdateFraction) }
}

/** Addresses by name. */
type Contracts = { readonly [name: string]: string }

function namePrecompiles({ precompiles }: Rules): Contracts {
  return Object.fromEntries(
    precompiles.map(([address, name]) => [name, formatData(bigIntToFixedBytes(BigInt(address), 20))]),
  )
}

function nameSystemContracts({ depositContract = new Uint8Array(20) }: ChainSpec, rules: Rules): Contracts {
  return Object.fromEntries(
    rules.systemContracts.map(([name, address = depositContract]) => [name, formatData(address)]),
  )
}
