import type { Decoded, DecodedLog } from './client/types.js'

/* Token transfers in decoded logs. Pure functions, without the browser. */

/** Emits the logs of ether transfers (EIP-7708), which are no tokens: 20 bytes, in lower case. */
export const ETHER_LOGS = '0xfffffffffffffffffffffffffffffffffffffffe'

const ZERO_ADDRESS = `0x${'0'.repeat(40)}`

/** A transfer of fungible tokens, or of tokens of an id. Addresses are in lower case. */
export interface TokenTransfer {
  readonly token: string
  readonly from: string
  readonly to: string
  /** Amount in the token's smallest unit; 1 for ERC-721. */
  readonly amount: bigint
  /** Undefined for ERC-20. */
  readonly id: bigint | undefined
}

/** Returns the transfers of ERC-20, ERC-721 and ERC-1155 tokens in the logs, in their order. Logs that were only
 *  guessed are left out. */
export function tokenTransfers(logs: readonly DecodedLog[]): TokenTransfer[] {
  return logs.flatMap((log) => {
    const { decoded } = log
    const token = log.address.toLowerCase()
    if (decoded === null || decoded.isGuess || token === ETHER_LOGS) return []
    const [first, second, third, fourth, fifth] = decoded.args.map(({ value }) => value)
    switch (decoded.signature) {
      case 'Transfer(address,address,uint256)': {
        const isNft = log.topics.length === 4
        return transferOf({
          token,
          from: first,
          to: second,
          amounts: isNft ? '1' : third,
          ids: isNft ? third : undefined,
        })
      }
      case 'TransferSingle(address,address,address,uint256,uint256)':
        return transferOf({ token, from: second, to: third, ids: fourth, amounts: fifth })
      case 'TransferBatch(address,address,address,uint256[],uint256[])':
        return transferOf({ token, from: second, to: third, ids: fourth, amounts: fifth })
      default:
        return []
    }
  })
}

type Value = Decoded['args'][number]['value']

function transferOf(parts: { token: string; from: Value; to: Value; amounts: Value; ids: Value | undefined }) {
  const { token, from, to } = parts
  if (typeof from !== 'string' || typeof to !== 'string') return []
  const amounts = [parts.amounts].flat()
  const ids = parts.ids === undefined ? [undefined] : [parts.ids].flat()
  if (amounts.length !== ids.length) return []
  return amounts.map((amount, i) => ({
    token,
    from: from.toLowerCase(),
    to: to.toLowerCase(),
    amount: BigInt(String(amount)),
    id: ids[i] === undefined ? undefined : BigInt(String(ids[i])),
  }))
}

/** What an address gained or lost of a token. */
export interface TokenChange extends Pick<TokenTransfer, 'token' | 'id'> {
  readonly address: string
  readonly change: bigint
}

/** Returns what each address gained and lost by the transfers, without what stayed the same. The zero address of mints
 *  and burns is left out. */
export function tokenChanges(transfers: readonly TokenTransfer[]): TokenChange[] {
  const changes = new Map<string, TokenChange>()
  const add = (address: string, { token, id }: TokenTransfer, amount: bigint) => {
    if (address === ZERO_ADDRESS) return
    const key = `${address} ${token} ${id}`
    changes.set(key, { address, token, id, change: (changes.get(key)?.change ?? 0n) + amount })
  }
  for (const transfer of transfers) {
    add(transfer.from, transfer, -transfer.amount)
    add(transfer.to, transfer, transfer.amount)
  }
  return [...changes.values()].filter(({ change }) => change !== 0n)
}
