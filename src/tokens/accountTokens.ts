import { TOKEN_KINDS, type TokenKind } from '../decoding/tokenTransfers.js'
import { compareBytes, equalBytes, keyOfBytes } from '../lib/bytes.js'
import { TooManyHoldings } from './errors.js'
import type { TransferOfToken } from './transferReader.js'

/** What the logs say that an account has of a token. */
export interface TokenBalance {
  readonly token: Uint8Array // 20
  readonly kind: TokenKind
  /** Id of an ERC-1155 token; undefined for the others. */
  readonly id: bigint | undefined
  /** Units; of ERC-721 the number of tokens. Negative if the logs take more than they gave: the token also changes
   *  balances without logs. */
  readonly balance: bigint
}

/** Adds up the transfers of one account, by token. */
export class AccountSums {
  readonly #account: Uint8Array
  readonly #limit: number
  /** By token, kind and id. */
  readonly #sums = new Map<string, TokenBalance & { balance: bigint }>()
  /** ERC-721 ids of the account, by token. */
  readonly #owned = new Map<string, Set<bigint>>()
  #ownedCount = 0

  /** `account`: 20 bytes; `limit`: balances and ids that are kept at most. */
  constructor(account: Uint8Array, limit: number) {
    this.#account = account
    this.#limit = limit
  }

  /** Adds the next transfer to or from the account, in chain order. @throws TooManyHoldings */
  add({ token, kind, from, to, id, value }: TransferOfToken): void {
    const sumId = kind === 'erc1155' ? id : undefined
    const key = `${keyOfBytes(token)}${kind}${sumId ?? ''}`
    let sum = this.#sums.get(key)
    if (sum === undefined) {
      sum = { token: token.slice(), kind, id: sumId, balance: 0n } // the log's bytes are part of a larger read
      this.#sums.set(key, sum)
    }
    const [sends, receives] = [equalBytes(from, this.#account), equalBytes(to, this.#account)]
    if (kind === 'erc721') sum.balance = this.#own(keyOfBytes(token), id!, receives)
    else sum.balance += (receives ? value : 0n) - (sends ? value : 0n)
    if (this.#sums.size + this.#ownedCount > this.#limit) throw new TooManyHoldings(this.#limit)
  }

  /** Every token that the account was ever party to a transfer of, ordered by address, kind and id. */
  list(): TokenBalance[] {
    return [...this.#sums.values()].sort(
      (a, b) =>
        compareBytes(a.token, b.token) ||
        TOKEN_KINDS.indexOf(a.kind) - TOKEN_KINDS.indexOf(b.kind) ||
        ((a.id ?? 0n) < (b.id ?? 0n) ? -1 : 1),
    )
  }

  /** Returns the number of ids of the token that the account owns. */
  #own(token: string, id: bigint, receives: boolean): bigint {
    const ids = this.#owned.get(token) ?? new Set()
    this.#owned.set(token, ids)
    const before = ids.size
    if (receives) ids.add(id)
    else ids.delete(id)
    this.#ownedCount += ids.size - before
    return BigInt(ids.size)
  }
}
