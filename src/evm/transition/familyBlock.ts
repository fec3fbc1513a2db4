import { familyOf } from '../../chain/eth/families/families.js'
import type { FamilyBlockRules, FamilyState } from '../../chain/eth/families/family.js'
import type { ChainSpec } from '../../chain/eth/forks/rules.js'
import type { Header } from '../../chain/eth/types.js'
import { createCode } from '../interpreter/code.js'
import type { Journal } from '../interpreter/journal/journal.js'
import { LIMBS, setBytes, wordToBigInt } from '../interpreter/words/words.js'
import { SYSTEM_ADDRESS } from './system.js'

/** What a family changes for the transactions of one block. */
export interface FamilyBlock {
  readonly rules?: FamilyBlockRules
  /** The state that the rules read and change. */
  readonly state: FamilyState
  /** See `FamilyExecution.tracedAccounts`. */
  readonly tracedAccounts?: readonly Uint8Array[]
  /** See `FamilyExecution.keepsSystemAccount`. */
  readonly keepsSystemAccount?: boolean
  /** The account, 20 bytes, that gets priority fees instead of the beneficiary. */
  readonly feeRecipient?: Uint8Array
}

/** Returns the header as execution reads it: its beneficiary is the account that gets priority fees and that COINBASE
 *  returns. */
export function executionHeader(spec: ChainSpec, header: Header): Header {
  const miner = familyOf(spec).execution?.beneficiary?.(spec, header)
  return miner === undefined || miner === header.miner ? header : { ...header, miner }
}

/** Returns what the chain's family changes for a block on that journal; undefined where the rules are those of
 *  Ethereum. */
export function openFamilyBlock(spec: ChainSpec, header: Header, journal: Journal): FamilyBlock | undefined {
  const { execution } = familyOf(spec)
  const rules = execution?.open?.(spec, header)
  const feeRecipient = execution?.feeRecipient?.(spec, header)
  if (rules === undefined && feeRecipient === undefined) return undefined
  const { tracedAccounts, keepsSystemAccount } = execution ?? {}
  journal.keepEmpty(keepsSystemAccount ? SYSTEM_ADDRESS : undefined)
  return { rules, feeRecipient, tracedAccounts, keepsSystemAccount, state: createFamilyState(journal) }
}

/** As `openFamilyBlock`, for a simulated block: undefined where its calls pay no fees of the family. */
export function openSimulatedFamilyBlock(spec: ChainSpec, header: Header, journal: Journal): FamilyBlock | undefined {
  return familyOf(spec).execution?.appliesToSimulations ? openFamilyBlock(spec, header, journal) : undefined
}

/** Makes the changes of a block before everything else in it. */
export function beginFamilyBlock({ rules, state }: FamilyBlock, journal: Journal): void {
  if (rules?.begin === undefined) return
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
