import { type GenesisAccount, parseGenesis } from '../chain/eth/genesis.js'
import { trimLeft } from '../lib/bytes.js'
import { formatData, formatQuantity } from '../lib/hex.js'
import { callOptional } from '../sources/ethRpc/developmentGenesis.js'
import { readFields } from '../sources/ethRpc/fields.js'
import { isObject } from '../sources/upstreams/jsonRpc.js'
import type { Upstream } from '../sources/upstreams/upstream.js'

/** An account without its storage. */
type FetchedAccount = Pick<GenesisAccount, 'address' | 'nonce' | 'balance' | 'code'>

/** A slot of an account. */
export interface SlotRef {
  readonly address: Uint8Array // 20
  readonly slot: Uint8Array // 32
}

/** Reads the state of an upstream after one block. */
export interface StateFetcher {
  /** In the order of the addresses; an account that does not exist is empty. */
  accounts(addresses: readonly Uint8Array[]): Promise<FetchedAccount[]>
  /** In the order of the slots, without leading zeros. */
  slots(slots: readonly SlotRef[]): Promise<Uint8Array[]>
}

const ACCOUNT_METHODS = ['eth_getBalance', 'eth_getTransactionCount', 'eth_getCode'] as const

/** Both functions throw UpstreamError, also when the node does not have that state. */
export function createStateFetcher(upstream: Upstream, blockNumber: number, signal?: AbortSignal): StateFetcher {
  const at = formatQuantity(blockNumber)
  const ask = async (calls: { method: string; params: unknown[] }[]) => {
    const answers = await upstream.request(calls, signal)
    return answers.map((answer, i) => upstream.resultOf(calls[i].method, answer))
  }
  return {
    accounts: async (addresses) => {
      const calls = addresses.flatMap((address) =>
        ACCOUNT_METHODS.map((method) => ({ method, params: [formatData(address), at] })),
      )
      const results = await ask(calls)
      return addresses.map((address, i) => {
        const [balance, nonce, code] = results.slice(i * ACCOUNT_METHODS.length)
        const fields = readFields({ balance, nonce, code }, formatData(address))
        return {
          address,
          balance: fields.quantity('balance'),
          nonce: fields.quantity('nonce'),
          code: fields.data('code'),
        }
      })
    },
    slots: async (slots) => {
      const calls = slots.map(({ address, slot }) => ({
        method: 'eth_getStorageAt',
        params: [formatData(address), formatData(slot), at],
      }))
      const results = await ask(calls)
      return results.map((value, i) =>
        trimLeft(readFields({ value }, `${formatData(slots[i].address)}[${formatData(slots[i].slot)}]`).data('value')),
      )
    },
  }
}

const PAGE = 256 // geth's limit
// Of real networks a part is recorded: listing all of one takes days.
const MAX_LISTED = 1_000_000

/** Returns all accounts after a block, as geth's `debug_accountRange` lists them; undefined where the node lacks the
 *  method, or the addresses and slots of its hashed state (preimages), and for more than a million accounts. */
export async function fetchAccountRange(
  upstream: Upstream,
  blockNumber: number,
  signal?: AbortSignal,
): Promise<GenesisAccount[] | undefined> {
  const alloc: { [address: string]: unknown } = {}
  let listed = 0
  for (let start: unknown = '0x'; start !== undefined; ) {
    const params = [formatQuantity(blockNumber), start, PAGE, false, false, false]
    const page = await callOptional(upstream, 'debug_accountRange', params, signal)
    if (!isObject(page) || !isObject(page.accounts)) return undefined
    for (const [address, account] of Object.entries(page.accounts)) {
      if (++listed > MAX_LISTED) return undefined
      if (!/^0x[0-9a-fA-F]{40}$/.test(address) || !isObject(account)) return undefined
      const { balance, nonce, code, storage } = account
      alloc[address] = { balance, nonce, code, storage }
    }
    start =
      typeof page.next === 'string' && page.next !== ''
        ? `0x${Buffer.from(page.next, 'base64').toString('hex')}`
        : undefined
  }
  return parseGenesis({ config: {}, gasLimit: 0, alloc }).accounts
}

/** True for an account that does not exist, as far as an upstream reports. */
export function isAbsentState({ nonce, balance, code }: Omit<FetchedAccount, 'address'>): boolean {
  return nonce === 0n && balance === 0n && code.length === 0
}

/** Formats `alloc` of a genesis in geth's format. */
export function formatAlloc(accounts: Iterable<GenesisAccount>): { [address: string]: object } {
  const entries = Array.from(accounts, ({ address, balance, nonce, code, storage }) => {
    const slots = storage.map(({ slot, value }) => [formatData(slot), formatData(value)])
    const account = {
      balance: formatQuantity(balance),
      ...(nonce !== 0n && { nonce: formatQuantity(nonce) }),
      ...(code.length > 0 && { code: formatData(code) }),
      ...(slots.length > 0 && { storage: Object.fromEntries(slots.sort()) }),
    }
    return [formatData(address), account] as const
  })
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}
