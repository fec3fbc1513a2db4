import type { TokenKind } from '../decoding/tokenTransfers.js'
import { compareBytes, keyOfBytes } from '../lib/bytes.js'
import { TooManyHoldings } from './errors.js'
import type { TransferOfToken } from './transferReader.js'

/** What an account has of a token. */
export interface Holding {
  readonly kind: TokenKind
  readonly holder: Uint8Array // 20
  /** Undefined for ERC-20. */
  readonly id: bigint | undefined
  /** Above zero; 1 for ERC-721. */
  readonly balance: bigint
}

/** The holders of a token. */
export interface Holders {
  /** ERC-20 balances first, the largest first; then the ids ascending, of each the largest balance first. Equal
   *  balances are ordered by address. */
  readonly holdings: readonly Holding[]
  /** False if the logs take more from an account than they gave it: the token also changes balances without logs. */
  readonly isComplete: boolean
}

const ZERO = keyOfBytes(new Uint8Array(20))

/** Adds up the transfers of one token. The zero address is no holder. ERC-721: the owner of an id is the receiver of
 *  its last transfer. */
export class HolderSums {
  /** Addresses and ids as keys of text; entries without a balance are removed. */
  readonly #fungible = new Map<string, bigint>()
  readonly #multi = new Map<bigint, Map<string, bigint>>()
  readonly #owners = new Map<bigint, string>()
  readonly #limit: number
  #multiCount = 0
  #isComplete = true

  /** `limit`: balances that are kept at most. */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** Adds the next transfer in chain order. @throws TooManyHoldings */
  add({ kind, from, to, id, value }: Omit<TransferOfToken, 'token'>): void {
    const [sender, receiver] = [keyOfBytes(from), keyOfBytes(to)]
    if (kind === 'erc721') this.#move(id!, sender, receiver)
    else if (id === undefined) this.#fungibleCount(sender, receiver, value)
    else this.#addMulti(id, sender, receiver, value)
    if (this.#fungible.size + this.#owners.size + this.#multiCount > this.#limit) throw new TooManyHoldings(this.#limit)
  }

  /** The holders after the transfers so far. */
  list(): Holders {
    let isComplete = this.#isComplete
    const holdings: Holding[] = []
    const push = (kind: TokenKind, id: bigint | undefined, balances: Iterable<[string, bigint]>) => {
      const own: Holding[] = []
      for (const [key, balance] of balances) {
        if (balance < 0n) isComplete = false
        else own.push({ kind, holder: Buffer.from(key, 'latin1'), id, balance })
      }
      own.sort((a, b) => (a.balance === b.balance ? compareBytes(a.holder, b.holder) : a.balance < b.balance ? 1 : -1))
      for (const each of own) holdings.push(each)
    }
    push('erc20', undefined, this.#fungible)
    for (const id of sortIds(this.#owners)) push('erc721', id, [[this.#owners.get(id)!, 1n]])
    for (const id of sortIds(this.#multi)) push('erc1155', id, this.#multi.get(id)!)
    return { holdings, isComplete }
  }

  #move(id: bigint, sender: string, receiver: string): void {
    if (sender !== (this.#owners.get(id) ?? ZERO)) this.#isComplete = false
    if (receiver === ZERO) this.#owners.delete(id)
    else this.#owners.set(id, receiver)
  }

  #fungibleCount(sender: string, receiver: string, value: bigint): void {
    change(this.#fungible, sender, -value)
    change(this.#fungible, receiver, value)
  }

  #addMulti(id: bigint, sender: string, receiver: string, value: bigint): void {
    const balances = this.#multi.get(id) ?? new Map<string, bigint>()
    const before = balances.size
    change(balances, sender, -value)
    change(balances, receiver, value)
    this.#multiCount += balances.size - before
    if (balances.size > 0) this.#multi.set(id, balances)
    else this.#multi.delete(id)
  }
}

function change(balances: Map<string, bigint>, key: string, amount: bigint): void {
  if (key === ZERO) return
  const balance = (balances.get(key) ?? 0n) + amount
  if (balance === 0n) balances.delete(key)
  else balances.set(key, balance)
}

function sortIds(byId: ReadonlyMap<bigint, unknown>): bigint[] {
  return [...byId.keys()].sort((a, b) => (a < b ? -1 : 1))
}
