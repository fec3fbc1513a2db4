import { keccak256 } from '../../../src/chain/crypto.js'
import { transactionsRoot } from '../../../src/chain/eth/block.js'
import { hashHeader } from '../../../src/chain/eth/header.js'
import type { Block, Header } from '../../../src/chain/eth/types.js'
import { withdrawalsRoot } from '../../../src/chain/eth/withdrawals.js'
import { hashRequests } from '../../../src/evm/transition/system.js'
import { formatData, parseHex } from '../../../src/lib/hex.js'
import { payloadOf, type SentPayload } from './payloads.js'
import type { Difference } from './sideBySide.js'

/** A payload that breaks a rule. */
export interface InvalidPayloadCase {
  readonly what: string
  readonly payload: SentPayload
  readonly difference?: Difference
}

const OTHER = new Uint8Array(32).fill(0x17)

/** Payloads like that of a block, each with one fault, whose hashes are those of their fields. `block` extends
 *  `parent`. */
export function invalidPayloads(block: Block, parent: Header, list: Uint8Array | undefined): InvalidPayloadCase[] {
  const { header } = block
  const changed = (fields: Partial<Header>, parts: Partial<Block> = {}, accessList = list): SentPayload => {
    const whole = { ...header, ...fields }
    return payloadOf({ ...block, ...parts, header: whole, hash: hashHeader(whole) }, accessList)
  }
  const cases: InvalidPayloadCase[] = [
    { what: 'state root', payload: changed({ stateRoot: OTHER }) },
    { what: 'receipts root', payload: changed({ receiptsRoot: OTHER }) },
    { what: 'logs bloom', payload: changed({ logsBloom: new Uint8Array(256).fill(1) }) },
    { what: 'gas used', payload: changed({ gasUsed: header.gasUsed + 1n }) },
    { what: 'gas used above the limit', payload: changed({ gasUsed: header.gasLimit + 1n }) },
    { what: 'gas limit', payload: changed({ gasLimit: header.gasLimit * 2n }) },
    { what: 'base fee', payload: changed({ baseFeePerGas: header.baseFeePerGas! + 1n }) },
    { what: 'timestamp of the parent', payload: changed({ timestamp: parent.timestamp }) },
    { what: 'extra data', payload: changed({ extraData: new Uint8Array(33) }) },
    { what: 'block number', payload: changed({ number: header.number + 1 }) },
  ]
  if (block.transactions.length > 0) {
    const fewer = block.transactions.slice(1)
    const root = { transactionsRoot: transactionsRoot(fewer) }
    cases.push({ what: 'a transaction left out', payload: changed(root, { transactions: fewer }) })
    const twice = [...block.transactions, block.transactions[0]]
    const longer = { transactionsRoot: transactionsRoot(twice) }
    cases.push({ what: 'a transaction twice', payload: changed(longer, { transactions: twice }) })
  }
  if (block.withdrawals) {
    const withdrawal = { index: 7n, validatorIndex: 1n, address: OTHER.slice(0, 20), amountGwei: 9n }
    const withdrawals = [...block.withdrawals, withdrawal]
    const root = { withdrawalsRoot: withdrawalsRoot(withdrawals) }
    cases.push({ what: 'another withdrawal', payload: changed(root, { withdrawals }) })
  }
  if (header.blobGasUsed !== undefined) {
    cases.push({ what: 'blob gas used', payload: changed({ blobGasUsed: 131_072n }) })
    cases.push({ what: 'excess blob gas', payload: changed({ excessBlobGas: header.excessBlobGas! + 1n }) })
    cases.push({ what: 'beacon root', payload: changed({ parentBeaconBlockRoot: OTHER }) })
  }
  cases.push({ what: 'a transaction that is no RLP', payload: resent(payloadOf(block, list), addNoTransaction) })
  if (header.parentBeaconBlockRoot) {
    const addHash = ([payload, hashes, ...rest]: readonly unknown[]) => [
      payload,
      [...(hashes as string[]), `0x01${'17'.repeat(31)}`],
      ...rest,
    ]
    cases.push({ what: 'versioned hashes', payload: resent(payloadOf(block, list), addHash) })
  }
  if (header.requestsHash) {
    const deposit = new Uint8Array(192).fill(3)
    const whole = { ...header, requestsHash: hashRequests([deposit]) }
    const requests = [formatData(Uint8Array.of(0, ...deposit))]
    const other = { ...block, header: whole, hash: hashHeader(whole) }
    cases.push({ what: 'a request that no log has', payload: payloadOf(other, list, requests) })
  }
  if (list) {
    const empty = Uint8Array.of(0xc0)
    const fields = { blockAccessListHash: keccak256(empty) }
    cases.push({ what: 'access list', payload: changed(fields, {}, empty) })
  }
  // With another transaction or withdrawal the access list is another one, too.
  return cases.map((each) => (list ? { difference: 'accessList', ...each } : each))
}

/** The payload with other parameters, the block hash unchanged. */
function resent(payload: SentPayload, change: (params: readonly unknown[]) => unknown[]): SentPayload {
  return { ...payload, params: change(payload.params) }
}

function addNoTransaction([payload, ...rest]: readonly unknown[]): unknown[] {
  const { transactions } = payload as { transactions: string[] }
  return [{ ...(payload as object), transactions: [...transactions, '0x05ff'] }, ...rest]
}

/** The payload of an empty child of a payload, as far as decoding asks: it is never executed. */
export function childOf(payload: SentPayload, block: Block, list: Uint8Array | undefined): SentPayload {
  const header = {
    ...block.header,
    parentHash: parseHex(payload.hash),
    number: payload.number + 1,
    timestamp: block.header.timestamp + BigInt(1 + payload.number - block.header.number),
  }
  return payloadOf({ ...block, header, hash: hashHeader(header) }, list)
}
