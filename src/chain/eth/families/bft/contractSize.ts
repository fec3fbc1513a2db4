import type { FamilyFork } from '../../forks/rules.js'
import { type GenesisJson, readUint, requireObject } from '../../genesisFields.js'
import type { ConfigValue } from '../family.js'
import { isSet, lowerKeys } from './bftConfig.js'

/** Reads the limits of contract code: `contractSizeLimit` of Besu in bytes, `contractsizelimit` of GoQuorum's
 *  transitions in KiB. @throws InvalidGenesis */
export function readContractSizes(config: GenesisJson): FamilyFork[] {
  const limit = (block: number, bytes: bigint): FamilyFork => ({
    ...{ name: `contractSize${block}:${bytes}`, block },
    parameters: { maxCodeSize: Number(bytes) },
  })
  const own = config.contractSizeLimit
  const first = isSet(own) ? [limit(0, readUint(own, 'config.contractSizeLimit', 32))] : []
  const later = (Array.isArray(config.transitions) ? config.transitions : []).flatMap((each: unknown, index) => {
    const { block, contractsizelimit: size } = lowerKeys(requireObject(each, `config.transitions[${index}]`))
    if (!isSet(size) || size === 0) return []
    const at = Number(readUint(block, `config.transitions[${index}].block`, 32))
    return [limit(at, readUint(size, `config.transitions[${index}].contractsizelimit`, 16) * 1024n)]
  })
  return [...first, ...later]
}

/** Returns members of `config` from which `readContractSizes` reads the limit of block 0. */
export function formatContractSize(forks: readonly FamilyFork[] = []): { readonly [member: string]: ConfigValue } {
  const size = forks.find(({ block, parameters }) => block === 0 && parameters?.maxCodeSize)?.parameters?.maxCodeSize
  return size === undefined ? {} : { contractSizeLimit: BigInt(size) }
}
