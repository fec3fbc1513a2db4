export type { ConfigValue } from './families/family.js'

import { formatData } from '../../lib/hex.js'
import { familyOf } from './families/families.js'
import type { ConfigValue } from './families/family.js'
import { FORK_KEYS } from './forkSchedule.js'
import { type BlobSchedule, type ChainSpec, FORKS } from './forks/rules.js'

/** Returns the `config` of a genesis file in geth's format, from which `parseGenesisSpec` reads the same rules. Adds
 *  Cairn's own members for chains of development nodes. */
export function formatGenesisConfig(spec: ChainSpec): { readonly [name: string]: ConfigValue } {
  const config: { [name: string]: ConfigValue } = { chainId: spec.chainId }
  const named = new Set<string>()
  for (const [key, fork] of FORK_KEYS) {
    const activation = spec.activations.find((each) => each.fork === fork)
    if (activation === undefined || named.has(fork)) continue
    named.add(fork)
    config[key] = activation.timestamp ?? BigInt(activation.block ?? 0)
    // geth's two names for Spurious Dragon.
    if (fork === 'spuriousDragon') config.eip158Block = config[key]
    if (fork === 'dao') config.daoForkSupport = spec.daoForkSupport
  }
  const { mergeNetsplitBlock, terminalTotalDifficulty, depositContract, fixedDifficulty } = spec
  if (mergeNetsplitBlock !== undefined) config.mergeNetsplitBlock = BigInt(mergeNetsplitBlock)
  if (terminalTotalDifficulty !== undefined) config.terminalTotalDifficulty = terminalTotalDifficulty
  if (depositContract) config.depositContractAddress = formatData(depositContract)
  config.ethash = fixedDifficulty === undefined ? {} : { fixeddifficulty: fixedDifficulty }
  const schedules = FORKS.flatMap((fork) => {
    const schedule = spec.blobSchedules[fork]
    return schedule === undefined ? [] : [[fork, formatSchedule(schedule)] as const]
  })
  if (schedules.length > 0) config.blobSchedule = Object.fromEntries(schedules)
  if (spec.isDevelopment) config.development = true
  if (spec.omitsSystemCalls) config.omitsSystemCalls = true
  return Object.assign(config, familyOf(spec).formatConfig?.(spec))
}

function formatSchedule({ target, max, baseFeeUpdateFraction }: BlobSchedule): ConfigValue {
  return { target: BigInt(target), max: BigInt(max), baseFeeUpdateFraction }
}
