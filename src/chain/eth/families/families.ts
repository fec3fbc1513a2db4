import type { ChainSpec } from '../forks/rules.js'
import type { Header } from '../types.js'
import { ibft2, qbft } from './bft/bft.js'
import { clique } from './clique/clique.js'
import { ethereum } from './ethereum.js'
import type { Family } from './family.js'
import { gnosis } from './gnosis/gnosis.js'
import type { FamilyName } from './name.js'
import { opStack } from './op/opStack.js'

/** All families, Ethereum first. */
export const FAMILIES: readonly Family[] = [ethereum, opStack, gnosis, qbft, ibft2, clique]

const BY_NAME = new Map<FamilyName, Family>(FAMILIES.map((family) => [family.name, family]))

/** Returns the family of a chain: Ethereum where nothing names another one. */
export function familyOf(spec: Pick<ChainSpec, 'family'> | undefined): Family {
  return spec?.family === undefined ? ethereum : BY_NAME.get(spec.family)!
}

/** Says how to choose the families whose blocks may contain a transaction type, for messages; undefined when none
 *  may. */
export function describeFamiliesOf(type: number): string | undefined {
  const families = FAMILIES.filter(({ transactionTypes }) => transactionTypes.includes(type))
  return families.length === 0
    ? undefined
    : families.map(({ title, chosenBy }) => `chains of ${title} have it: ${chosenBy}`).join('; ')
}

/** Names the other family whose form a header has, and how to choose it, for messages; undefined for a header of
 *  `family`, and for a form that several families have. */
export function describeOtherFamily(header: Header, family: Family): string | undefined {
  if (family.recognises?.(header)) return undefined
  const other = FAMILIES.find((each) => each.recognises?.(header))
  return other && `it has the form of a block of ${other.title}: ${other.chosenBy} chooses that family`
}

/** Returns what the `config` of a genesis says about its family, and members of it that schedule forks of the family;
 *  nothing for Ethereum. @throws InvalidGenesis */
export function readFamilyConfig(config: { readonly [key: string]: unknown }): {
  readonly spec: Partial<ChainSpec>
  readonly forkKeys: readonly string[]
} {
  for (const { readConfig, forkKeys = [] } of FAMILIES) {
    const spec = readConfig?.(config)
    if (spec !== undefined) return { spec, forkKeys }
  }
  return { spec: {}, forkKeys: [] }
}
