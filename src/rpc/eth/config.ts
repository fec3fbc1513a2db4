import { forkHashAt } from '../../chain/eth/forkId.js'
import { type ChainSpec, type Rules, rulesAt } from '../../chain/eth/forks.js'
import { createPrecompileTable, NO_CURVES } from '../../evm/interpreter/precompiles/precompileTable.js'
import {
  BEACON_ROOTS,
  BUILDER_DEPOSIT_REQUESTS,
  BUILDER_EXIT_REQUESTS,
  CONSOLIDATION_REQUESTS,
  HISTORY_STORAGE,
  WITHDRAWAL_REQUESTS,
} from '../../evm/transition/system.js'
import { bigIntToFixedBytes } from '../../lib/bytes.js'
import { formatData, formatQuantity } from '../../lib/hex.js'
import { findBlock } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { CONFIG_SCHEMA } from './schemas.js'
import { compareBigInts } from './suggestTip.js'

/** Names of EIP-7910 by address; from 11 on those of the EIPs that define the precompiles. */
const PRECOMPILE_NAMES: { readonly [address: number]: string } = {
  ...{ 1: 'ECREC', 2: 'SHA256', 3: 'RIPEMD160', 4: 'ID', 5: 'MODEXP' },
  ...{ 6: 'BN254_ADD', 7: 'BN254_MUL', 8: 'BN254_PAIRING', 9: 'BLAKE2F', 10: 'KZG_POINT_EVALUATION' },
  ...{ 11: 'BLS12_G1ADD', 12: 'BLS12_G1MSM', 13: 'BLS12_G2ADD', 14: 'BLS12_G2MSM', 15: 'BLS12_PAIRING_CHECK' },
  ...{ 16: 'BLS12_MAP_FP_TO_G1', 17: 'BLS12_MAP_FP2_TO_G2', 256: 'P256VERIFY' },
}

export const config = defineMethod({
  name: 'eth_config',
  summary: 'Configuration of the current, the next and the last scheduled fork (EIP-7910).',
  description:
    '`current` is the fork in force at the head, null before the first fork by time (Shanghai). `next` and `last` are null ' +
    'if no later fork is scheduled. `forkId` is absent for a chain from a genesis file whose block 0 is not available.',
  cost: 'point',
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
    blobSchedule: rules.blobs
      ? { ...rules.blobs, baseFeeUpdateFraction: Number(rules.blobs.baseFeeUpdateFraction) }
      : null,
    chainId: formatQuantity(spec.chainId),
    forkId: forkHash === undefined ? undefined : formatData(bigIntToFixedBytes(BigInt(forkHash), 4)),
    precompiles: namePrecompiles(rules),
    systemContracts: nameSystemContracts(spec, rules),
  }
}

/** Addresses by name. */
type Contracts = { readonly [name: string]: string }

function namePrecompiles(rules: Rules): Contracts {
  const addresses = [...createPrecompileTable(rules, NO_CURVES).entries()].filter(([, precompile]) => precompile)
  return Object.fromEntries(
    addresses.map(([number]) => [PRECOMPILE_NAMES[number], formatData(bigIntToFixedBytes(BigInt(number), 20))]),
  )
}

function nameSystemContracts({ depositContract = new Uint8Array(20) }: ChainSpec, rules: Rules): Contracts {
  return {
    ...(rules.has('cancun') && { BEACON_ROOTS_ADDRESS: formatData(BEACON_ROOTS) }),
    ...(rules.has('prague') && {
      CONSOLIDATION_REQUEST_PREDEPLOY_ADDRESS: formatData(CONSOLIDATION_REQUESTS),
      DEPOSIT_CONTRACT_ADDRESS: formatData(depositContract),
      HISTORY_STORAGE_ADDRESS: formatData(HISTORY_STORAGE),
      WITHDRAWAL_REQUEST_PREDEPLOY_ADDRESS: formatData(WITHDRAWAL_REQUESTS),
    }),
    // EIP-8282; geth lists them at Bogota without Amsterdam too.
    ...((rules.has('amsterdam') || rules.has('bogota')) && {
      BUILDER_DEPOSIT_CONTRACT_ADDRESS: formatData(BUILDER_DEPOSIT_REQUESTS),
      BUILDER_EXIT_CONTRACT_ADDRESS: formatData(BUILDER_EXIT_REQUESTS),
    }),
  }
}
