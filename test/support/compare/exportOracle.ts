import { keccak256 } from '../../../src/chain/crypto.js'
import { formatData, parseHex } from '../../../src/lib/hex.js'
import type { TextRow } from '../chains/exportedFiles.js'
import { resultOf } from '../rpcClient.js'

/* What an export must hold, from the answers of a server to the same database. */

type Json = { [member: string]: string | null | undefined }

/** Answers about the whole chain, by block number. */
export interface Answers {
  blocks: (Json & { number: string; transactions: Json[] })[]
  receipts: (Json & { logs: (Json & { topics: string[] })[] })[][]
  chainId: string
  raw: Map<string, string>
  traces: { txHash: string; result: CallJson }[][]
  stateDiffs: { stateDiff: { [address: string]: { balance: ChangeJson; storage: { [slot: string]: ChangeJson } } } }[][]
}
interface CallJson {
  type: string
  from: string
  to: string
  input: string
  output?: string
  error?: string
  calls?: CallJson[]
}
type ChangeJson = '=' | { '+'?: string; '-'?: string; '*'?: { from: string; to: string } }

/** Asks the server at the URL for everything up to the head. */
export async function askEverything(url: string): Promise<Answers> {
  const head = Number(await resultOf<string>(url, 'eth_blockNumber'))
  const numbers = Array.from({ length: head + 1 }, (_, i) => `0x${i.toString(16)}`)
  const all = <T>(method: string, from: number, more: unknown[]) =>
    Promise.all(numbers.map((number, i) => (i < from ? ([] as T) : resultOf<T>(url, method, [number, ...more]))))
  const blocks = await all<Answers['blocks'][number]>('eth_getBlockByNumber', 0, [true])
  const raw = new Map<string, string>()
  for (const { hash } of blocks.flatMap(({ transactions }) => transactions)) {
    raw.set(hash!, await resultOf(url, 'debug_getRawTransaction', [hash]))
  }
  return {
    blocks,
    receipts: await all('eth_getBlockReceipts', 0, []),
    chainId: String(Number(await resultOf<string>(url, 'eth_chainId'))),
    raw,
    traces: await all('debug_traceBlockByNumber', 1, [{ tracer: 'callTracer' }]),
    stateDiffs: await all('trace_replayBlockTransactions', 1, [['stateDiff']]),
  }
}

const int = (value: string | null | undefined) => (value === undefined || value === null ? null : String(BigInt(value)))
const hex = (value: string | null | undefined) => value ?? null
const byteLength = (data: string) => (data.length - 2) / 2

/** The columns of a 256-bit integer. */
export function wide(name: string, value: string): TextRow {
  const integer = BigInt(value)
  return {
    [`${name}_binary`]: `0x${integer.toString(16).padStart(64, '0')}`,
    [`${name}_string`]: String(integer),
    [`${name}_f64`]: String(Number(integer)),
  }
}

/** The rows that each dataset must have. */
export const EXPECTED: { readonly [dataset: string]: (answers: Answers) => TextRow[] } = {
  blocks: ({ blocks, receipts, chainId }) =>
    blocks.map((block, i) => ({
      block_hash: hex(block.hash),
      parent_hash: hex(block.parentHash),
      uncles_hash: hex(block.sha3Uncles),
      author: hex(block.miner),
      state_root: hex(block.stateRoot),
      transactions_root: hex(block.transactionsRoot),
      receipts_root: hex(block.receiptsRoot),
      block_number: int(block.number),
      gas_used: int(block.gasUsed),
      gas_limit: int(block.gasLimit),
      extra_data: hex(block.extraData),
      logs_bloom: hex(block.logsBloom),
      timestamp: int(block.timestamp),
      difficulty: int(block.difficulty),
      ...wide('total_difficulty', block.totalDifficulty!),
      size: int(block.size),
      mix_hash: hex(block.mixHash),
      nonce: hex(block.nonce),
      base_fee_per_gas: int(block.baseFeePerGas),
      withdrawals_root: hex(block.withdrawalsRoot),
      chain_id: chainId,
      blob_gas_used: int(block.blobGasUsed),
      excess_blob_gas: int(block.excessBlobGas),
      parent_beacon_block_root: hex(block.parentBeaconBlockRoot),
      requests_hash: hex(block.requestsHash),
      n_transactions: String(block.transactions.length),
      n_logs: String(receipts[i].reduce((sum, { logs }) => sum + logs.length, 0)),
    })),
  transactions: ({ blocks, receipts, chainId, raw }) =>
    blocks.flatMap((block, i) =>
      block.transactions.map((transaction, index) => {
        const receipt = receipts[i][index]
        const input = parseHex(transaction.input!)
        const zeros = input.filter((byte) => byte === 0).length
        const legacyParity = () => (BigInt(transaction.v!) + 1n) % 2n
        return {
          block_number: int(block.number),
          transaction_index: String(index),
          transaction_hash: hex(transaction.hash),
          nonce: int(transaction.nonce),
          from_address: hex(transaction.from),
          to_address: hex(transaction.to),
          ...wide('value', transaction.value!),
          input: hex(transaction.input),
          gas_limit: int(transaction.gas),
          gas_used: int(receipt.gasUsed),
          gas_price: int(receipt.effectiveGasPrice),
          transaction_type: int(transaction.type),
          max_priority_fee_per_gas: int(transaction.maxPriorityFeePerGas),
          max_fee_per_gas: int(transaction.maxFeePerGas),
          success: receipt.status === undefined ? null : String(receipt.status === '0x1'),
          n_input_bytes: String(input.length),
          n_input_zero_bytes: String(zeros),
          n_input_nonzero_bytes: String(input.length - zeros),
          n_rlp_bytes: String(byteLength(raw.get(transaction.hash!)!)),
          block_hash: hex(block.hash),
          chain_id: chainId,
          timestamp: int(block.timestamp),
          r: padded(transaction.r!),
          s: padded(transaction.s!),
          v: String(transaction.yParity === undefined ? legacyParity() === 1n : transaction.yParity === '0x1'),
        }
      }),
    ),
  receipts: ({ blocks, receipts, chainId }) =>
    blocks.flatMap((block, i) =>
      receipts[i].map((receipt, index) => ({
        block_number: int(block.number),
        block_hash: hex(block.hash),
        transaction_index: String(index),
        transaction_hash: hex(receipt.transactionHash),
        transaction_type: int(receipt.type),
        from_address: hex(receipt.from),
        to_address: hex(receipt.to),
        contract_address: hex(receipt.contractAddress),
        success: receipt.status === undefined ? null : String(receipt.status === '0x1'),
        root: hex(receipt.root),
        gas_used: int(receipt.gasUsed),
        cumulative_gas_used: int(receipt.cumulativeGasUsed),
        effective_gas_price: int(receipt.effectiveGasPrice),
        blob_gas_used: int(receipt.blobGasUsed),
        blob_gas_price: int(receipt.blobGasPrice),
        n_logs: String(receipt.logs.length),
        chain_id: chainId,
        block_timestamp: int(block.timestamp),
      })),
    ),
  logs: ({ blocks, receipts, chainId }) =>
    logsOf(receipts).map((log) => ({
      block_number: int(log.blockNumber),
      transaction_index: int(log.transactionIndex),
      log_index: int(log.logIndex),
      transaction_hash: hex(log.transactionHash),
      address: hex(log.address),
      topic0: hex(log.topics[0]),
      topic1: hex(log.topics[1]),
      topic2: hex(log.topics[2]),
      topic3: hex(log.topics[3]),
      data: hex(log.data),
      n_data_bytes: String(byteLength(log.data!)),
      chain_id: chainId,
      block_timestamp: int(blocks[Number(log.blockNumber)].timestamp),
    })),
  erc20_transfers: ({ blocks, receipts, chainId }) =>
    logsOf(receipts)
      .filter(({ topics, data }) => topics.length === 3 && topics[0] === TRANSFER && byteLength(data!) === 32)
      .map((log) => ({
        block_number: int(log.blockNumber),
        transaction_index: int(log.transactionIndex),
        log_index: int(log.logIndex),
        transaction_hash: hex(log.transactionHash),
        erc20: hex(log.address),
        from_address: `0x${log.topics[1].slice(26)}`,
        to_address: `0x${log.topics[2].slice(26)}`,
        ...wide('value', log.data!),
        chain_id: chainId,
        block_timestamp: int(blocks[Number(log.blockNumber)].timestamp),
      })),
  contracts: ({ blocks, traces, chainId }) =>
    traces.flatMap((transactions, i) => {
      const block = blocks[i]
      const created = transactions.flatMap(({ txHash, result }) =>
        creations(result).map((call) => ({ txHash, deployer: result.from, call })),
      )
      return created.map(({ txHash, deployer, call }, index) => ({
        block_number: int(block.number),
        block_hash: hex(block.hash),
        create_index: String(index),
        transaction_hash: txHash,
        contract_address: call.to,
        deployer,
        factory: call.from,
        init_code: call.input,
        code: call.output ?? '0x',
        init_code_hash: hashOf(call.input),
        n_init_code_bytes: String(byteLength(call.input)),
        n_code_bytes: String(byteLength(call.output ?? '0x')),
        code_hash: hashOf(call.output ?? '0x'),
        chain_id: chainId,
        block_timestamp: int(block.timestamp),
      }))
    }),
  balance_diffs: (answers) =>
    changesOf(answers, (account) => [account.balance]).map(({ place, change }) => {
      const [from, to] = ends(change, '0x0')
      return { ...place, ...wide('from_value', from), ...wide('to_value', to), ...endOf(answers, place) }
    }),
  storage_diffs: (answers) =>
    changesOf(answers, ({ storage }) => Object.entries(storage)).map(({ place, change: [slot, change] }) => {
      const [from, to] = ends(change, `0x${'00'.repeat(32)}`)
      return { ...place, slot, from_value: from, to_value: to, ...endOf(answers, place) }
    }),
}

const TRANSFER = hashText('Transfer(address,address,uint256)')

function logsOf(receipts: Answers['receipts']) {
  return receipts.flat().flatMap(({ logs }) => logs)
}

function creations(call: CallJson): CallJson[] {
  if (call.error !== undefined) return []
  return [...(call.type.startsWith('CREATE') ? [call] : []), ...(call.calls ?? []).flatMap(creations)]
}

type AccountChanges = Answers['stateDiffs'][number][number]['stateDiff'][string]

/** The changes by transactions, of each in order of addresses. */
function changesOf<T>({ blocks, stateDiffs }: Answers, list: (account: AccountChanges) => T[]) {
  return stateDiffs
    .flatMap((transactions, i) =>
      transactions.flatMap(({ stateDiff }, index) =>
        Object.entries(stateDiff).flatMap(([address, account]) => {
          const hash = blocks[i].transactions[index].hash!
          const place = { block_number: String(i), transaction_index: String(index), transaction_hash: hash, address }
          return list(account)
            .filter((change) => (Array.isArray(change) ? change[1] : change) !== '=')
            .map((change) => ({ place, change }))
        }),
      ),
    )
    .filter(({ change }) => {
      const [from, to] = ends((Array.isArray(change) ? change[1] : change) as ChangeJson, '0x0')
      return BigInt(from) !== BigInt(to)
    })
}

function ends(change: ChangeJson, none: string): [from: string, to: string] {
  if (change === '=') return [none, none]
  return [change['-'] ?? change['*']?.from ?? none, change['+'] ?? change['*']?.to ?? none]
}

function endOf({ blocks, chainId }: Answers, { block_number }: { block_number: string }): TextRow {
  return { chain_id: chainId, block_timestamp: int(blocks[Number(block_number)].timestamp) }
}

function padded(quantity: string): string {
  return `0x${BigInt(quantity).toString(16).padStart(64, '0')}`
}

function hashOf(data: string): string {
  return formatData(keccak256(parseHex(data)))
}

function hashText(text: string): string {
  return formatData(keccak256(new TextEncoder().encode(text)))
}
