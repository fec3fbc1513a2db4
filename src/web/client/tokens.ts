import { ETHER_LOGS } from '../tokenTransfers.js'
import { call, callIfServed, callInBatch } from './rpc.js'
import { apiKey } from './session.js'
import type { BalancePage, HolderPage, Token, TokenKind, TokenNames, TransferPage } from './tokenTypes.js'
import type { Hex } from './types.js'

/* Tokens by the methods of the server. */

/** Entries per page that is shown. */
const SHOWN_ENTRIES = 50

/** Entries per request for a file. */
const FILE_PAGE_ENTRIES = 1_000

/** Entries of a file at most: 10 requests. */
const FILE_ENTRIES = 10_000

const ETHER: TokenNames = { name: 'Ether', symbol: 'ETH', decimals: 18 }

const known = new Map<string, Promise<TokenNames | undefined>>()
apiKey.watch(() => known.clear())

/** Returns the names and decimals of a token at the newest block, read once per tab; undefined for an address that is
 *  no token, and if the call fails, which is repeated the next time. Never rejects. */
export function readToken(token: string): Promise<TokenNames | undefined> {
  const address = token.toLowerCase()
  if (address === ETHER_LOGS) return Promise.resolve(ETHER)
  const kept = known.get(address)
  if (kept !== undefined) return kept
  const names: Promise<TokenNames | undefined> = callInBatch<Token | null>('cairn_getToken', [address]).then(
    (found) => found ?? undefined,
    () => {
      if (known.get(address) === names) known.delete(address)
      return undefined
    },
  )
  known.set(address, names)
  return names
}

/** Returns a token at the newest block, and keeps its names for `readToken`; null for an address that is no token.
 *  @throws CallFailed */
export async function loadToken(token: string): Promise<Token | null> {
  const found = await call<Token | null>('cairn_getToken', [token])
  known.set(token.toLowerCase(), Promise.resolve(found ?? undefined))
  if (found !== null && found.address === ETHER_LOGS) return { ...found, ...ETHER }
  return found
}

/** Where a page begins, and its entries at most. */
interface PageOptions {
  /** Of the page before; absent for the first page. */
  cursor?: string
  limit?: number
}

/** Returns transfers of a token or an account, newest first. @throws CallFailed */
export function loadTransfers(
  of: { token: string } | { account: string },
  { cursor, limit = SHOWN_ENTRIES }: PageOptions,
): Promise<TransferPage> {
  return call<TransferPage>('cairn_getTokenTransfers', [{ ...of, limit, ...(cursor ? { cursor } : {}) }])
}

/** Returns token balances of an account at the newest block. @throws CallFailed */
export function loadBalances(
  account: string,
  { cursor, limit = SHOWN_ENTRIES * 2 }: PageOptions,
): Promise<BalancePage> {
  return call<BalancePage>('cairn_getTokenBalances', [account, { limit, ...(cursor ? { cursor } : {}) }])
}

/** Returns holders of a token at the newest block. @throws CallFailed */
export function loadHolders(token: string, { cursor, limit = SHOWN_ENTRIES }: PageOptions): Promise<HolderPage> {
  return call<HolderPage>('cairn_getTokenHolders', [token, { limit, ...(cursor ? { cursor } : {}) }])
}

/** A result of `cairn_findTokens`. */
export interface FoundTokens {
  readonly tokens: readonly (TokenNames & { readonly address: Hex; readonly kind: TokenKind })[]
  /** False if the server has not read all token contracts yet. */
  readonly isComplete: boolean
}

/** Calls of one search: each reads token contracts for up to two seconds. */
const MAX_SEARCHES = 2

/** Returns tokens whose name or symbol has the text, best first; undefined if the server has no such method. @throws
 *  CallFailed */
export async function findTokens(text: string, limit: number): Promise<FoundTokens | undefined> {
  let found: FoundTokens | undefined
  for (let i = 0; i < MAX_SEARCHES && found?.isComplete !== true; i++) {
    found = await callIfServed<FoundTokens>('cairn_findTokens', [text, limit])
    if (found === undefined) return undefined
  }
  return found
}

/** Returns the total supply of a token after a block; null if it is unknown. @throws CallFailed */
export async function loadSupply(token: string, block: Hex): Promise<bigint | null> {
  const found = await call<Token | null>('cairn_getToken', [token, block])
  return found === null || found.totalSupply === null ? null : BigInt(found.totalSupply)
}

/** Rows of a file. */
export interface FileRows<Row> {
  readonly rows: readonly Row[]
  /** False if there are more. */
  readonly isAll: boolean
}

/** Reads pages until a file is full, or all of them. Returns early when the signal is aborted. @throws CallFailed */
export async function readFileRows<Page extends { cursor: string | null }, Row>(
  load: (options: PageOptions) => Promise<Page>,
  rowsOf: (page: Page) => readonly Row[],
  { signal, onProgress }: { signal: AbortSignal; onProgress: (rows: number) => void },
): Promise<FileRows<Row>> {
  const rows: Row[] = []
  let cursor: string | undefined
  for (;;) {
    const page = await load({ cursor, limit: FILE_PAGE_ENTRIES })
    rows.push(...rowsOf(page))
    onProgress(rows.length)
    if (page.cursor === null) return { rows, isAll: true }
    if (rows.length >= FILE_ENTRIES || signal.aborted) return { rows, isAll: false }
    cursor = page.cursor
  }
}
