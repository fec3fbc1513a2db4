import { EMPTY_CODE_HASH } from '../../../chain/eth/emptyHashes.js'
import type { Journal } from '../../../evm/interpreter/journal/journal.js'
import { fieldsOf, slotValue, type TouchedState } from '../../../evm/tracing/stateRecorder.js'
import { equalBytes } from '../../../lib/bytes.js'
import { formatData, formatQuantity } from '../../../lib/hex.js'

/** Options of geth's prestateTracer. */
export interface PrestateOptions {
  readonly diffMode?: boolean
  readonly disableCode?: boolean
  readonly disableStorage?: boolean
  readonly includeEmpty?: boolean
}

/** An account as geth writes it; unchanged and empty members are left out. */
interface AccountJson {
  balance?: string
  code?: string
  codeHash?: string
  nonce?: number | bigint
  storage?: Record<string, string>
}

/** The touched accounts and slots with their previous state, by address. */
export function formatPrestate(touched: Iterable<TouchedState>, options: PrestateOptions): object {
  const before = [...touched].filter((state) => options.includeEmpty || !isEmpty(state))
  return byKey(before.map((state) => [formatData(state.address), formatBefore(state, state.slots.values(), options)]))
}

/** Returns the changes, before and after; `journal` has the state after. With `eip8246` deleted accounts keep their
 *  balance. */
export function formatStateDifference(
  touched: Iterable<TouchedState>,
  { journal, eip8246 }: { journal: Journal; eip8246: boolean },
  options: PrestateOptions,
): object {
  const pre: [string, AccountJson][] = []
  const post: [string, AccountJson][] = []
  for (const state of touched) {
    const address = formatData(state.address)
    // A deleted account is only in `pre`, with everything that was touched, even if it was paid after SELFDESTRUCT.
    // Since EIP-8246, one with a balance is kept.
    if (state.isDestructed && !(eip8246 && journal.account(state.address).balance !== 0n)) {
      if (!isEmpty(state)) pre.push([address, formatBefore(state, state.slots.values(), options)])
      continue
    }
    const changed = options.disableStorage
      ? []
      : [...state.slots.values()]
          .map((each) => ({ ...each, now: slotValue(journal, state.address, each.slot) }))
          .filter(({ value, now }) => !equalBytes(value, now))
    const after = formatAfter(state, journal, options)
    if (after === undefined && changed.length === 0) continue
    const set = changed.filter(({ now }) => !isZero(now)).map(({ slot, now }) => ({ slot, value: now }))
    post.push([address, { ...after, ...storageOf(set) }])
    if (!isEmpty(state)) {
      const held = changed.filter(({ value }) => !isZero(value))
      pre.push([address, formatBefore(state, held, options)])
    }
  }
  return { post: byKey(post), pre: byKey(pre) }
}

function formatBefore(
  { balance, nonce, code, codeHash }: TouchedState,
  slots: Iterable<{ slot: Uint8Array; value: Uint8Array }>,
  { disableCode, disableStorage }: PrestateOptions,
): AccountJson {
  return {
    balance: formatQuantity(balance),
    ...(code.length > 0 && !disableCode ? { code: formatData(code) } : {}),
    ...(equalBytes(codeHash, EMPTY_CODE_HASH) ? {} : { codeHash: formatData(codeHash) }),
    ...(nonce === 0n ? {} : { nonce: formatNonce(nonce) }),
    ...(disableStorage ? {} : storageOf(slots)),
  }
}

/** The changed fields; undefined if none changed. */
function formatAfter(
  before: TouchedState,
  journal: Journal,
  { disableCode }: PrestateOptions,
): AccountJson | undefined {
  const { balance, nonce, code, codeHash } = fieldsOf(journal, before.address)
  const isSameCode = equalBytes(codeHash, before.codeHash)
  if (balance === before.balance && nonce === before.nonce && isSameCode) return undefined
  return {
    ...(balance === before.balance ? {} : { balance: formatQuantity(balance) }),
    ...(isSameCode || disableCode ? {} : { code: formatData(code) }),
    ...(isSameCode ? {} : { codeHash: formatData(codeHash) }),
    ...(nonce === before.nonce || nonce === 0n ? {} : { nonce: formatNonce(nonce) }),
  }
}

function storageOf(slots: Iterable<{ slot: Uint8Array; value: Uint8Array }>): Pick<AccountJson, 'storage'> {
  const entries = [...slots].map(({ slot, value }): [string, string] => [formatData(slot), formatData(value)])
  return entries.length === 0 ? {} : { storage: byKey(entries) }
}

/** geth keeps the hash of no code: it has no account here before. */
function isEmpty({ balance, nonce, code }: TouchedState): boolean {
  return balance === 0n && nonce === 0n && code.length === 0
}

/** A JSON number, as geth writes nonces; no account reaches 2^53. */
function formatNonce(nonce: bigint): number {
  return Number(nonce)
}

function isZero(value: Uint8Array): boolean {
  return value.every((byte) => byte === 0)
}

/** An object with those members, ordered by name. */
export function byKey<T>(entries: [string, T][]): Record<string, T> {
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}
