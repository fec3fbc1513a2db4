import { CairnError } from '../../lib/errors.js'
import type { Database } from '../database.js'
import { createMetaTable, META_CLOSED_STATES, META_LISTED_STATES, META_STATE_FIRST, META_STATE_MODE } from '../meta.js'
import type { BlockInterval } from '../rows/coverage.js'

/* Sparse state: the database knows the accounts and slots that it needed so far. Each of them has a base row, at block
 * `META_STATE_FIRST`: its value before any later change. A key without a row is unknown.
 *
 * State may begin again at a later block, when the states in between could not be had: intervals of blocks have state.
 * Each interval has incarnations of its own. The first of them is that of accounts which have a storage at the first
 * block: their slots without rows are unknown. An account without storage there, or that does not exist, has the next
 * one: its slots without rows are zero, as are those of all later incarnations. A key of an earlier interval has a
 * marker at the first block of a later one: it is unknown from there on, until a base row replaces the marker.
 *
 * Changes of a block that was not executed come from its access list (EIP-7928), and may be of keys that were not known
 * before. Such a slot has no base row: it is unknown before its first row, for good. An access list names the fields of
 * an account that changed: a row is partial until all fields are known, as its incarnation says, and reads as unknown.
 * A later proof completes it where no block after it changed the fields that it lacks. */

/** Incarnations of an interval; more than an account has lives. */
export const INCARNATIONS = 2 ** 20

/** Incarnation in the marker row of an account, and in a partial row without any known field. */
export const UNKNOWN_ACCOUNT = -1

/** Fields of an account that a partial row knows: bits. */
export const [NONCE_KNOWN, BALANCE_KNOWN, CODE_KNOWN] = [1, 2, 4]
/** All fields of an account. */
export const ALL_KNOWN = NONCE_KNOWN | BALANCE_KNOWN | CODE_KNOWN

/** Incarnation of a partial row in which some fields are known: negative. */
export function partialIncarnation(known: number): number {
  return UNKNOWN_ACCOUNT - known
}

/** The fields that a row with that incarnation knows. */
export function knownFields(incarnation: number): number {
  return incarnation < 0 ? UNKNOWN_ACCOUNT - incarnation : ALL_KNOWN
}

/** Incarnation in the base row of an account, in the interval after `closed` others. */
export function baseIncarnation(closed: number, hasStorage: boolean): number {
  return closed * INCARNATIONS + (hasStorage ? 0 : 1)
}

/** True if slots of that incarnation are unknown without a row, with sparse state. */
export function mayHaveUnknownSlots(incarnation: number): boolean {
  return incarnation % INCARNATIONS === 0
}

/** Returns how many intervals of states were closed. */
export function countClosedStates(db: Database): number {
  return createMetaTable(db).get<unknown[]>(META_CLOSED_STATES)?.length ?? 0
}

/** Returns the intervals of blocks whose states come from access lists, ascending. */
export function readListedStates(db: Database): BlockInterval[] {
  return createMetaTable(db).get<BlockInterval[]>(META_LISTED_STATES) ?? []
}

/** A proof contradicts what the access lists of blocks say, although the headers of one chain bind both: the upstream
 *  sent a chain that no node would accept. */
export class ListedStateDiffers extends CairnError {
  constructor(what: string, { listed, proved }: { listed: string; proved: string }) {
    super(
      `${what}: the access lists of blocks leave ${listed}, a later block proves ${proved}; the blocks are not of a valid ` +
        "chain, 'cairn rewind' removes them",
    )
  }
}

/** All accounts, or all slots of an account, were asked for, and only a part is known. */
export class StateNotListable extends CairnError {
  constructor() {
    super('the state cannot be listed: with --state sparse only accounts and slots that were needed are known')
  }
}

/** Returns whether keys without rows are unknown. Reads the mode until the database has one: it never changes from or
 *  to sparse while there is state. */
export function createSparseCheck(db: Database): () => boolean {
  const meta = createMetaTable(db)
  let isSparse: boolean | undefined
  return () => {
    if (isSparse !== undefined) return isSparse
    const mode = meta.get<string>(META_STATE_MODE)
    if (mode === 'execute' || mode === 'sparse') isSparse = mode === 'sparse'
    return isSparse ?? false
  }
}

/** Returns the first block with state of a database with sparse state; undefined in a gap. */
export function readStateFirst(db: Database): number | undefined {
  return createMetaTable(db).get<number | null>(META_STATE_FIRST) ?? undefined
}
