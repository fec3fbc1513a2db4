import type { ChainSpec } from '../../forks/rules.js'
import { type GenesisJson, InvalidGenesis, readUint, requireObject } from '../../genesisFields.js'
import { ethereumForksOf } from './opForks.js'
import { changedForksOf } from './opPrecompiles.js'
import { BASE_FORKS, type BaseFork, OP_FORKS, type OpFork, type OpRules } from './opRules.js'

/** Parameters of EIP-1559 of most chains. */
const ELASTICITY = 6n
const DENOMINATOR = 50n
const DENOMINATOR_CANYON = 250n

const timeKey = (fork: OpFork | BaseFork) => `${fork}Time`

/** Members of `config` that schedule forks of the OP stack. */
export const OP_FORK_KEYS: readonly string[] = ['bedrockBlock', ...[...OP_FORKS, ...BASE_FORKS].map(timeKey)]

/** Reads the rules of the OP stack from a `config` in the format of op-geth: with a member `optimism`. The times of
 *  Ethereum's forks follow from them. Undefined without that member. @throws InvalidGenesis */
export function readOpConfig(config: GenesisJson): Partial<ChainSpec> | undefined {
  if (config.optimism === undefined || config.optimism === null) return undefined
  const parameters = requireObject(config.optimism, 'config.optimism')
  const positive = (name: string, fallback: bigint) => {
    const value = parameters[name]
    if (value === undefined || value === null) return fallback
    const read = readUint(value, `config.optimism.${name}`, 64)
    if (read === 0n) throw new InvalidGenesis(`config.optimism.${name}: expected at least 1, got 0`)
    return read
  }
  const times: { [fork in OpFork]?: bigint } = {}
  // A fork that is left out begins with the next one that is not.
  let next: bigint | undefined
  for (const fork of OP_FORKS.toReversed()) {
    const value = config[timeKey(fork)]
    if (value !== undefined && value !== null) next = readUint(value, `config.${timeKey(fork)}`, 64)
    if (next !== undefined) times[fork] = next
  }
  const baseTimes = Object.fromEntries(
    BASE_FORKS.flatMap((fork) => {
      const value = config[timeKey(fork)]
      return value === undefined || value === null ? [] : [[fork, readUint(value, `config.${timeKey(fork)}`, 64)]]
    }),
  )
  const isOfBase = Object.keys(baseTimes).length > 0
  if (isOfBase && times.karst !== undefined) {
    throw new InvalidGenesis('config.karstTime: a chain has the forks of Base or those of the OP stack after Jovian')
  }
  const op: OpRules = {
    bedrockBlock: Number(readUint(config.bedrockBlock ?? 0, 'config.bedrockBlock', 53)),
    times,
    ...(isOfBase && { baseTimes }),
    elasticity: positive('eip1559Elasticity', ELASTICITY),
    denominator: positive('eip1559Denominator', DENOMINATOR),
    denominatorCanyon: positive('eip1559DenominatorCanyon', DENOMINATOR_CANYON),
  }
  return opSpec(op)
}

/** Returns the members of a chain's rules that those of the OP stack determine. */
export function opSpec(
  op: OpRules,
): Pick<
  ChainSpec,
  'family' | 'op' | 'activations' | 'familyForks' | 'otherForkTimes' | 'terminalTotalDifficulty' | 'ethash'
> {
  const activations = ethereumForksOf(op)
  const otherForkTimes = [...Object.values(op.times), ...Object.values(op.baseTimes ?? {})]
  const familyForks = changedForksOf(op)
  return { family: 'op', op, activations, familyForks, otherForkTimes, terminalTotalDifficulty: 0n, ethash: false }
}

/** Returns the members of a `config` from which `readOpConfig` reads the same rules. */
export function formatOpConfig({ op }: ChainSpec) {
  const { bedrockBlock, times, baseTimes, elasticity, denominator, denominatorCanyon } = op!
  const all: { readonly [fork: string]: bigint | undefined } = { ...times, ...baseTimes }
  const scheduled = [...OP_FORKS, ...BASE_FORKS].flatMap((fork) => {
    const time = all[fork]
    return time === undefined ? [] : [[timeKey(fork), time] as const]
  })
  return {
    bedrockBlock: BigInt(bedrockBlock),
    ...Object.fromEntries(scheduled),
    optimism: {
      eip1559Elasticity: elasticity,
      eip1559Denominator: denominator,
      eip1559DenominatorCanyon: denominatorCanyon,
    },
  }
}
