import { type BlockAccessList, decodeBlockAccessList } from '../../chain/eth/blockAccessList.js'
import { familyOf } from '../../chain/eth/families/families.js'
import type { ChainSpec } from '../../chain/eth/forks/rules.js'
import type { Block } from '../../chain/eth/types.js'
import type { StateKeySet } from '../../evm/state/sparseState.js'

/** Adds the accounts and slots that a block is known to need before it is executed: those of its access list (EIP-7928)
 *  where one is given, else the beneficiary, senders, recipients, withdrawals or the contracts that the chain's family
 *  calls after the transactions instead, access lists (EIP-2930) and the authorities' delegates that transactions name.
 *  They are hints: what is missing among them is found by executing. */
export function addBlockKeys(keys: StateKeySet, block: Block, spec: ChainSpec, blockAccessList?: Uint8Array): void {
  keys.add(block.header.miner)
  const ended = familyOf(spec).execution?.closingCalls?.(spec, block) ?? block.withdrawals ?? []
  for (const { address } of ended) keys.add(address)
  for (const { from, to, accessList = [], authorizationList = [] } of block.transactions) {
    keys.add(from)
    if (to) keys.add(to)
    for (const { address } of authorizationList) keys.add(address)
    for (const { address, storageKeys } of accessList) {
      keys.addKeys({ address, slots: storageKeys })
    }
  }
  if (blockAccessList) addAccessList(keys, decodeBlockAccessList(blockAccessList))
}

function addAccessList(keys: StateKeySet, list: BlockAccessList): void {
  for (const { address, storageChanges, storageReads } of list) {
    keys.add(address)
    for (const { slot } of storageChanges) keys.add(address, slot)
    for (const slot of storageReads) keys.add(address, slot)
  }
}
