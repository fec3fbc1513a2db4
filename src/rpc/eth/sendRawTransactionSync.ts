import { formatData, parseHex } from '../../lib/hex.js'
import type { RpcContext } from '../core/context.js'
import { LIMIT_EXCEEDED, METHOD_NOT_FOUND, RpcError } from '../core/errors.js'
import { defineMethod } from '../core/method.js'
import { data, index, optional, required } from '../core/params.js'
import { createReceiptFormat } from './format/receipt.js'
import { RECEIPT_SCHEMA } from './schemas.js'
import { NO_UPSTREAM_ANSWERED } from './sendRawTransaction.js'

const NOT_FORWARDED = {
  code: METHOD_NOT_FOUND,
  message:
    'the method eth_sendRawTransactionSync does not exist/is not available: this server does not forward transactions; ' +
    'it would with --upstream URL --forward-transactions',
} as const

/** Error of EIP-7966 if no block contains the transaction in time; the hash is in `data`. */
const NOT_INCLUDED = {
  code: 4,
  message: "The transaction was added to the transaction pool but wasn't processed in Ns",
} as const

/** Error beyond `MAX_WAITING`. */
const TOO_MANY_WAITING = { code: LIMIT_EXCEEDED, message: 'too many transactions are waited for' } as const

// geth's errors.
const DEFAULT_TIMEOUT_MS = 20_000
const MAX_TIMEOUT_MS = 60_000

/** Concurrent waiting calls: each checks once per new block. */
const MAX_WAITING = 256

/** Time between two checks of the head; a check takes microseconds. */
const LOOK_MS = 10

/** Number of waiting calls by chain reader: one server each. */
const waitingCounts = new WeakMap<object, number>()

// `point`, although it waits: none of the wait is spent on the main thread.
export const sendRawTransactionSync = defineMethod({
  name: 'eth_sendRawTransactionSync',
  summary: 'Forwards a signed transaction to the upstream and returns its receipt once a block has it (EIP-7966).',
  description:
    'Only with `--upstream URL --forward-transactions`, as `eth_sendRawTransaction`. The receipt is that of the first block ' +
    `of this server that has the transaction. At most ${MAX_WAITING} calls wait at a time.`,
  cost: 'point',
  classes: ['send'],
  chainless: true,
  runsOnce: true,
  params: [
    required('transaction', data, 'the signed transaction as RLP or as typed envelope (EIP-2718)'),
    optional(
      'timeout',
      timeoutMs(),
      `the longest wait for a block in milliseconds, as number or quantity: ${DEFAULT_TIMEOUT_MS} by default or with 0, at most ${MAX_TIMEOUT_MS}`,
    ),
  ],
  result: { name: 'receipt', schema: RECEIPT_SCHEMA },
  errors: [
    NOT_FORWARDED,
    { ...NOT_INCLUDED, when: 'no block has the transaction in time' },
    { ...NO_UPSTREAM_ANSWERED, when: 'no upstream can be reached' },
    { ...TOO_MANY_WAITING, when: `${MAX_WAITING} calls wait` },
  ],
  handler: (context, transaction, timeout) => {
    const { forwardTransaction, chain } = context
    if (forwardTransaction === undefined) throw new RpcError(NOT_FORWARDED.code, NOT_FORWARDED.message)
    const waiting = waitingCounts.get(chain) ?? 0
    if (waiting >= MAX_WAITING) {
      throw new RpcError(TOO_MANY_WAITING.code, `${TOO_MANY_WAITING.message}: the limit is ${MAX_WAITING}`)
    }
    waitingCounts.set(chain, waiting + 1)
    return forwardTransaction(transaction)
      .then((hash) =>
        waitForReceipt(context, parseHex(hash.slice(2)), Math.min(timeout || DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS)),
      )
      .finally(() => waitingCounts.set(chain, waitingCounts.get(chain)! - 1))
  },
})

/** Milliseconds as a JSON number, as geth and viem send them, or as a quantity. */
function timeoutMs() {
  const number = { type: 'integer', minimum: 0 }
  return {
    schema: { oneOf: [number, index.schema] },
    decode: (value: unknown, path: string) =>
      Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : index.decode(value, path),
  }
}

/** Resolves with the receipt object once a block contains the transaction. Checks after each change of the head.
 *  @throws RpcError 4 after `limitMs` */
function waitForReceipt(context: RpcContext, hash: Uint8Array, limitMs: number): Promise<object> {
  const end = performance.now() + limitMs
  let seen: string | undefined
  return new Promise((resolve, reject) => {
    const look = () => {
      try {
        const receipt = findNewReceipt()
        if (receipt !== undefined) return finish(() => resolve(receipt))
        if (performance.now() >= end) finish(() => reject(notIncluded(hash, limitMs)))
      } catch (error) {
        finish(() => reject(error))
      }
    }
    const findNewReceipt = () => {
      const head = context.chain.headHash()
      const text = head === undefined ? '' : formatData(head)
      if (text === seen) return undefined
      seen = text
      return findReceipt(context, hash)
    }
    const finish = (settle: () => void) => {
      clearInterval(looking)
      settle()
    }
    const looking = setInterval(look, LOOK_MS).unref()
    look()
  })
}

function findReceipt({ chain, transactions }: RpcContext, hash: Uint8Array): object | undefined {
  const location = transactions.locate(hash)
  const block = location && chain.blockByNumber(location.blockNumber)
  const transaction = block && chain.transaction(block, location.index)
  const stored = block && chain.receipt(block, location.index)
  if (!transaction || !stored) return undefined
  return createReceiptFormat(chain, block)(stored, transaction, location.index)
}

function notIncluded(hash: Uint8Array, limitMs: number): RpcError {
  const message = NOT_INCLUDED.message.replace('Ns', `${limitMs / 1000}s`)
  return new RpcError(NOT_INCLUDED.code, message, formatData(hash))
}
