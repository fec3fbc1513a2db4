import { familyOf } from '../../chain/eth/families/families.js'
import type { Payment } from '../../chain/eth/families/family.js'
import type { ChainSpec } from '../../chain/eth/forks/rules.js'
import type { ChainReader, StoredBlock } from '../../store/rows/types.js'
import { type BlockReward, hasRewards, rewardsOf } from '../transition/blockEnd.js'

/** A reward of a block, as `trace_block` shows it: `external` if a contract said who gets it (OpenEthereum). */
export interface TracedReward extends Omit<BlockReward, 'kind'> {
  readonly kind: BlockReward['kind'] | 'external'
}

/** True if system calls after the transactions of a block may add to balances, which only execution shows. */
export function hasExternalRewards(spec: ChainSpec): boolean {
  return familyOf(spec).execution?.closingCalls !== undefined
}

/** Returns the rewards of a block in their order; none in the genesis and under proof of stake. `execute` returns what
 *  system calls added to balances; it is called where the family has such calls. */
export function rewardsOfBlock(
  chain: ChainReader,
  block: StoredBlock,
  execute: () => readonly Payment[],
): readonly TracedReward[] {
  if (block.header.number === 0) return []
  if (!hasExternalRewards(chain.spec())) return sealRewardsOfBlock(chain, block)
  return execute().map(({ address: author, wei }) => ({ kind: 'external', author, wei }))
}

/** Returns what the rules give for sealing a block and for its uncles, without executing it; nothing in the genesis and
 *  under proof of stake. */
export function sealRewardsOfBlock(chain: ChainReader, block: StoredBlock): readonly BlockReward[] {
  const { header } = block
  const [spec, rules] = [chain.spec(), chain.rulesOf(block)]
  if (header.number === 0 || !hasRewards(rules, spec)) return []
  return rewardsOf(header, chain.uncles(header.number), rules, spec)
}
