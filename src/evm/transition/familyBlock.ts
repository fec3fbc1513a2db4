import { familyOf } from '../../chain/eth/families/families.js'
import type { FamilyBlockRules, FamilyState } from '../../chain/eth/families/family.js'
import type { ChainSpec } from '../../chain/eth/forks/rules.js'
import type { Header } from '../../chain/eth/types.js'
import { createCode } from '../interpreter/code.js'
import type { Journal } from '../interpreter/journal/journal.js'
import { LIMBS, setBytes, wordToBigInt } from '../interpreter/words/words.js'

/** The rules of a family for the transactions of one block, and the state that they read and change. */
export interface FamilyBlock {
  readonly rules: FamilyBlockRules
  readonly state: FamilyState
  /** See `FamilyExecution.tracedAccounts`. */
  readonly tracedAccounts: readonly Uint8Array[]
}

/** Returns the rules of the chain's family for a block on that journal; undefined where they are those of Ethereum. */
export function openFamilyBlock(spec: ChainSpec, header: Header, journal: Journal): FamilyBlock | undefined {
  const { execution } = familyOf(spec)
  if (execution === undefined) return undefined
  const { tracedAccounts } = execution
  return { rules: execution.open(spec, header), state: createFamilyState(journal), tracedAccounts }
}

/** Makes the changes of a block before everything else in it. */
export function beginFamilyBlock({ rules, state }: FamilyBlock, journal: Journal): void {
  if (rules.begin === undefined) return
  rules.begin(state)
  journal.endTransaction(false)
}

function createFamilyState(journal: Journal): FamilyState {
  const word = new Int32Array(LIMBS)
  return {
    slot: (address, key) => {
      const account = journal.account(address)
      journal.recorder?.account(account)
      setBytes(word, 0, key, 0, 32)
      const slot = journal.slot(account, word, 0)
      journal.recorder?.slot(slot)
      journal.readSlot(slot, word, 0)
      return wordToBigInt(word, 0)
    },
    setCode: (address, code) => {
      const account = journal.account(address)
      journal.recorder?.account(account)
      journal.setCode(account, createCode(code))
    },
  }
}
