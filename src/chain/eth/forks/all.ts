import { amsterdam } from './amsterdam.js'
import { arrowGlacier } from './arrowGlacier.js'
import { berlin } from './berlin.js'
import { bogota } from './bogota.js'
import { bpo1, bpo2, bpo3, bpo4, bpo5 } from './bpo.js'
import { byzantium } from './byzantium.js'
import { cancun } from './cancun.js'
import { constantinople } from './constantinople.js'
import { dao } from './dao.js'
import type { ForkDefinition, ForkLists, ForkParameters, StoragePrices } from './fork.js'
import { frontier } from './frontier.js'
import { grayGlacier } from './grayGlacier.js'
import { homestead } from './homestead.js'
import { istanbul } from './istanbul.js'
import { london } from './london.js'
import { muirGlacier } from './muirGlacier.js'
import { osaka } from './osaka.js'
import { paris } from './paris.js'
import { petersburg } from './petersburg.js'
import { prague } from './prague.js'
import { shanghai } from './shanghai.js'
import { spuriousDragon } from './spuriousDragon.js'
import { tangerineWhistle } from './tangerineWhistle.js'

const DEFINITIONS = [
  frontier,
  homestead,
  dao,
  tangerineWhistle,
  spuriousDragon,
  byzantium,
  constantinople,
  petersburg,
  istanbul,
  muirGlacier,
  berlin,
  london,
  arrowGlacier,
  grayGlacier,
  paris,
  shanghai,
  cancun,
  prague,
  osaka,
  bpo1,
  bpo2,
  bpo3,
  bpo4,
  bpo5,
  amsterdam,
  bogota,
] as const

/** Name of a hard fork, as in geth's genesis file. */
export type Fork = (typeof DEFINITIONS)[number]['name']

/** Hard forks in order. */
export const FORK_DEFINITIONS: readonly ForkDefinition<Fork>[] = DEFINITIONS

/** Names of the hard forks in order. */
export const FORKS: readonly Fork[] = DEFINITIONS.map(({ name }) => name)

/** What holds at a fork. */
export interface ForkRules extends ForkParameters, ForkLists {}

/** Returns what holds after these forks, which are in order and begin with the first one. */
export function combineForks(forks: readonly ForkDefinition[]): ForkRules {
  const listed = <T>(listOf: (fork: ForkDefinition) => readonly T[] | undefined) =>
    forks.flatMap((fork) => listOf(fork) ?? [])
  return {
    ...(Object.assign({}, ...forks.map(({ parameters }) => parameters)) as ForkParameters),
    storage: Object.assign({}, ...forks.map(({ parameters }) => parameters?.storage)) as StoragePrices,
    headerFields: listed((fork) => fork.headerFields),
    instructions: listed((fork) => fork.instructions),
    precompiles: listed((fork) => fork.precompiles),
    systemCalls: listed((fork) => fork.systemCalls),
    requestContracts: listed((fork) => fork.requestContracts),
    // By name: two forks may have the same.
    systemContracts: [...new Map(listed((fork) => fork.systemContracts))],
  }
}

/** What all forks have added together: every header field, instruction, precompile and system contract. */
export const ALL_FORKS: ForkRules = combineForks(FORK_DEFINITIONS)
