import { formatChecksumAddress } from '../../chain/eth/checksumAddress.js'
import { type ChainSpec, type Rules, rulesOfInvented } from '../../chain/eth/forks/rules.js'
import type { Header, Withdrawal } from '../../chain/eth/types.js'
import { keyOfBytes } from '../../lib/bytes.js'
import { CallFailed } from '../errors.js'
import { createCode } from '../interpreter/code.js'
import type { Journal } from '../interpreter/journal/journal.js'
import { addressKey, type Machine, precompileOfFork } from '../interpreter/machine.js'
import type { Precompile } from '../interpreter/precompiles/precompile.js'
import { LIMBS, setBytes } from '../interpreter/words/words.js'

/** A storage slot and its value, 32 bytes each. */
export interface SlotOverride {
  slot: Uint8Array
  value: Uint8Array
}

/** Fields of an account that replace the stored ones. */
export interface AccountOverride {
  address: Uint8Array // 20
  balance?: bigint
  nonce?: bigint
  code?: Uint8Array
  /** The whole storage; excludes `stateDiff`. */
  state?: readonly SlotOverride[]
  /** Single slots. */
  stateDiff?: readonly SlotOverride[]
  /** Moves the precompile at `address` to this address, 20 bytes. */
  movePrecompileTo?: Uint8Array
}

/** Header fields that replace those of the call's block (execution-apis, schemas/execute: BlockOverrides). */
export interface BlockOverrides {
  number?: number
  difficulty?: bigint // ignored under proof of stake
  timestamp?: bigint // Unix seconds, 64 bits
  gasLimit?: bigint
  feeRecipient?: Uint8Array // 20
  prevRandao?: Uint8Array // 32
  baseFeePerGas?: bigint
  blobBaseFee?: bigint
  parentBeaconBlockRoot?: Uint8Array // 32; simulated blocks only
  withdrawals?: Withdrawal[] // simulated blocks only
}

/** Overrides of a call. Accounts are ordered by address. */
export interface CallOverrides {
  accounts?: readonly AccountOverride[]
  block?: BlockOverrides
}

/** The header with the overridden fields. */
export function overrideHeader(header: Header, overrides: BlockOverrides, isProofOfStake: boolean): Header {
  return {
    ...header,
    number: overrides.number ?? header.number,
    difficulty: (isProofOfStake ? undefined : overrides.difficulty) ?? header.difficulty,
    timestamp: overrides.timestamp ?? header.timestamp,
    gasLimit: overrides.gasLimit ?? header.gasLimit,
    miner: overrides.feeRecipient ?? header.miner,
    mixHash: overrides.prevRandao ?? header.mixHash,
    baseFeePerGas: overrides.baseFeePerGas ?? header.baseFeePerGas,
  }
}

/** Header and rules of calls at a block with overrides. Overridden numbers and times choose the fork. */
export function overrideBlock(
  { header: stored, rules: before }: { header: Header; rules: Rules },
  overrides: BlockOverrides,
  spec: ChainSpec,
): { header: Header; rules: Rules } {
  const { number, timestamp, prevRandao } = overrides
  const isMoved = number !== undefined || timestamp !== undefined || prevRandao !== undefined
  const isProofOfStake = before.isProofOfStake || prevRandao !== undefined
  const header = overrideHeader(stored, overrides, before.isProofOfStake)
  const rules = isMoved ? rulesOfInvented(spec, header.number, header.timestamp, isProofOfStake) : before
  return { rules, header: isMoved ? fitHeader(header, rules) : header }
}

/** The header with the fields that instructions read in its fork. */
function fitHeader(header: Header, rules: Rules): Header {
  return {
    ...header,
    baseFeePerGas: rules.eip1559 ? (header.baseFeePerGas ?? 0n) : undefined,
    excessBlobGas: rules.eip4844 ? (header.excessBlobGas ?? 0n) : undefined,
    slotNumber: rules.eip7843 ? (header.slotNumber ?? 0n) : undefined,
  }
}

/** Applies account overrides to the journal, as if by a transaction before the next one, and moves precompiles of the
 *  machine, whose tables are those of the block's fork. Earlier moves are undone. @throws CallFailed in geth's words */
export function overrideAccounts(machine: Machine, journal: Journal, overrides: readonly AccountOverride[] = []): void {
  machine.movedPrecompiles = movePrecompiles(machine, overrides)
  if (overrides.length === 0) return
  for (const override of overrides) overrideAccount(journal, override)
  journal.endTransaction(false)
}

function movePrecompiles(
  { precompiles }: Machine,
  overrides: readonly AccountOverride[],
): ReadonlyMap<string, Precompile | undefined> | undefined {
  const word = new Int32Array(LIMBS)
  const overridden = new Set(overrides.map(({ address }) => keyOfBytes(address)))
  const moved = new Map<string, Precompile | undefined>()
  for (const { address, movePrecompileTo: to } of overrides) {
    setBytes(word, 0, address, 0, 20)
    const precompile = precompileOfFork(precompiles, word)
    if (moved.get(addressKey(word))) fail(address, 'has already been overridden by a precompile')
    if (to !== undefined) {
      if (precompile === undefined) fail(address, 'is not a precompile')
      if (overridden.has(keyOfBytes(to))) fail(to, 'is already overridden')
      moved.set(keyOfBytes(to), precompile)
    }
    // Any override at a precompile's address replaces the precompile.
    if (precompile !== undefined) moved.set(keyOfBytes(address), undefined)
  }
  return moved.size === 0 ? undefined : moved
}

function overrideAccount(journal: Journal, override: AccountOverride): void {
  const { address, nonce, code, balance, state, stateDiff } = override
  const account = journal.account(address)
  if (nonce !== undefined) journal.setNonce(account, nonce)
  if (code !== undefined) journal.setCode(account, createCode(code))
  if (balance !== undefined) journal.setBalance(account, balance)
  if (state !== undefined && stateDiff !== undefined) fail(address, "has both 'state' and 'stateDiff'")
  if (state !== undefined) {
    journal.touch(account)
    journal.clearStorage(account)
  }
  const words = new Int32Array(2 * LIMBS)
  for (const { slot, value } of state ?? stateDiff ?? []) {
    journal.touch(account)
    setBytes(words, 0, slot, 0, slot.length)
    setBytes(words, LIMBS, value, 0, value.length)
    journal.writeSlot(journal.slot(account, words, 0), words, LIMBS)
  }
}

function fail(address: Uint8Array, reason: string): never {
  throw new CallFailed(`account ${formatChecksumAddress(address)} ${reason}`)
}
