import { CairnError } from '../../lib/errors.js'
import { abbreviate } from '../../lib/hex.js'
import { readFamilyConfig } from './families/families.js'
import { ALL_FORKS, FORK_DEFINITIONS, FORKS, type Fork } from './forks/all.js'
import type { ChainSpec } from './forks/rules.js'

/** Members of geth's `config` that activate a fork. */
export const FORK_KEYS: readonly (readonly [key: string, fork: Fork])[] = FORK_DEFINITIONS.flatMap(
  ({ name, keys = [] }) => keys.map((key) => [key, name] as const),
)

/** Names of members that activate forks. Erigon has others in files of Gnosis: `maxBlobGasPerBlock`. */
const FORK_LIKE = /(Time|(?<!Per)Block)$/

/** Members of `config` that look like forks: another name of Spurious Dragon, and one without rules. */
const OTHER_KEYS = ['eip158Block', 'mergeNetsplitBlock']
const KNOWN_KEYS = new Set([...FORK_KEYS.map(([key]) => key), ...OTHER_KEYS])

/** A chain schedules a fork whose rules Cairn does not know. */
export class UnknownFork extends CairnError {}

/** Rejects a `config` in geth's format that activates a fork that Cairn does not know. Ignores activations beyond the
 *  greatest safe integer, which are never reached. @throws UnknownFork naming the member */
export function requireKnownForks(config: { readonly [key: string]: unknown }): void {
  const { forkKeys } = readFamilyConfig(config)
  for (const [key, value] of Object.entries(config)) {
    if (!FORK_LIKE.test(key) || KNOWN_KEYS.has(key) || forkKeys.includes(key) || value === null || value === undefined)
      continue
    if (Number(value) > Number.MAX_SAFE_INTEGER) continue
    throw new UnknownFork(
      `config.${abbreviate(key)}: Cairn does not know this fork, which begins at ${abbreviate(String(value))}; a newer version ` +
        `may; remove the member if the chain does not reach it, or if it changes no rule`,
    )
  }
}

/** Precompiles of all forks. */
const PRECOMPILES = new Set(ALL_FORKS.precompiles.map(([address]) => BigInt(address)))

/** Names of system contracts in `eth_config` (EIP-7910) of all forks. */
const SYSTEM_CONTRACTS = new Set(ALL_FORKS.systemContracts.map(([name]) => name))

/** Rejects a result of `eth_config` (EIP-7910) whose current, next or last fork has a precompile or a system contract
 *  that Cairn does not know. @throws UnknownFork naming the member */
export function requireKnownContracts(config: unknown): void {
  for (const which of ['current', 'next', 'last']) {
    const fork = memberOf(config, which)
    for (const kind of ['precompiles', 'systemContracts']) {
      for (const [name, address] of Object.entries(memberOf(fork, kind) ?? {})) {
        if (kind === 'precompiles' ? isPrecompile(address) : SYSTEM_CONTRACTS.has(name)) continue
        throw new UnknownFork(
          `${which}.${kind}.${abbreviate(name)} at ${abbreviate(String(address))}: Cairn does not know the fork that has it, ` +
            `which begins at ${abbreviate(String(memberOf(fork, 'activationTime')))}; a newer version may`,
        )
      }
    }
  }
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as { [name: string]: unknown })[name] : undefined
}

function isPrecompile(address: unknown): boolean {
  return typeof address === 'string' && /^0x[0-9a-f]{40}$/i.test(address) && PRECOMPILES.has(BigInt(address))
}

/** Forks that are activated by time. */
export const TIME_FORKS: readonly Fork[] = FORK_KEYS.filter(([key]) => key.endsWith('Time')).map(([, fork]) => fork)

/** Fork times, Unix seconds, that override those of a chain; null: never. */
export type ForkTimes = { readonly [K in Fork]?: number | null }

/** Returns the chain with other fork times. */
export function withForkTimes(spec: ChainSpec, times: ForkTimes): ChainSpec {
  const rest = spec.activations.filter(({ fork }) => !(fork in times))
  const changed = TIME_FORKS.flatMap((fork) => {
    const time = times[fork]
    return time === null || time === undefined ? [] : [{ fork, timestamp: BigInt(time) }]
  })
  const activations = [...rest, ...changed].sort((a, b) => FORKS.indexOf(a.fork) - FORKS.indexOf(b.fork))
  return { ...spec, activations }
}
