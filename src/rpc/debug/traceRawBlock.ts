import { decodeBlock } from '../../chain/eth/block.js'
import { addedType } from '../../chain/eth/families/addedTypes.js'
import { familyOf } from '../../chain/eth/families/families.js'
import { type ChainSpec, type Rules, rulesAt } from '../../chain/eth/forks/rules.js'
import { DecodeError } from '../../chain/eth/rlp.js'
import type { Block, Header, Transaction } from '../../chain/eth/types.js'
import { TransactionRefused } from '../../evm/transition/checkTransaction.js'
import { formatData } from '../../lib/hex.js'
import type { ChainReader, StoredBlock } from '../../store/rows/types.js'
import { findBlock } from '../core/blockId.js'
import { RpcError, SERVER_ERROR } from '../core/errors.js'
import { defineMethod } from '../core/method.js'
import { data, required } from '../core/params.js'
import { BLOCK_TRACE_RESULT, writeBlockTraces } from './traceBlock.js'
import { traceConfigParam } from './traceConfig.js'
import { GENESIS_ERROR, TRACE_ERRORS } from './traceErrors.js'

const REFUSED = 'tracing failed: '

export const traceRawBlock = defineMethod({
  name: 'debug_traceBlock',
  summary: 'Traces of all transactions of a block that is sent as RLP, by executing it on the state of its parent.',
  description:
    'The block need not be stored, its parent must be. Its header is not checked beyond what execution needs. The result is ' +
    'that of `debug_traceBlockByNumber`.',
  cost: 'evm',
  classes: ['calls', 'traces'],
  isTrace: true,
  params: [required('blockRlp', data, 'RLP of the block, as `debug_getRawBlock` returns it'), traceConfigParam],
  result: BLOCK_TRACE_RESULT,
  errors: [
    { code: SERVER_ERROR, message: 'could not decode block: …' },
    { code: SERVER_ERROR, message: 'block 0x… not found' },
    { code: SERVER_ERROR, message: `${REFUSED}…` },
    GENESIS_ERROR,
    ...TRACE_ERRORS,
  ],
  handler: async (context, rlp, config) => {
    const { chain } = context
    const block = decodeSentBlock(rlp)
    if (block.header.number === 0) throw new RpcError(GENESIS_ERROR.code, GENESIS_ERROR.message)
    const parent = requireParent(chain, block.header)
    const totalDifficulty = parent.totalDifficulty + block.header.difficulty
    const { number, timestamp } = block.header
    const spec = chain.spec()
    requireExecutable(block, rulesAt(spec, number, timestamp, parent.totalDifficulty), spec)
    const parts = { totalDifficulty, firstTx: 0, firstLog: 0, logCount: 0, txCount: block.transactions.length }
    const sent = { block: { ...block, ...parts }, transactions: block.transactions }
    try {
      return await writeBlockTraces(context, sent, config)
    } catch (error) {
      throw error instanceof TransactionRefused ? refusal(error.message) : error
    }
  },
})

function decodeSentBlock(rlp: Uint8Array): Block {
  try {
    return decodeBlock(rlp)
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    throw new RpcError(SERVER_ERROR, `could not decode block: ${error.message}`)
  }
}

function requireParent(chain: ChainReader, { number, parentHash }: Header): StoredBlock {
  const parent = findBlock(chain, { hash: parentHash, requireCanonical: true })
  if (parent?.header.number === number - 1) return parent
  throw new RpcError(SERVER_ERROR, `block ${formatData(parentHash)} not found`)
}

const EXECUTED_FIELDS: readonly (keyof Header)[] = [
  'baseFeePerGas',
  'excessBlobGas',
  'parentBeaconBlockRoot',
  'slotNumber',
]

/** Refuses what the executor does not expect, because stored blocks were checked on import. */
function requireExecutable({ header, transactions }: Block, rules: Rules, spec: ChainSpec): void {
  const missing = rules.headerFields.find(({ name }) => EXECUTED_FIELDS.includes(name) && header[name] === undefined)
  if (missing !== undefined) throw refusal(`header: ${missing.name} is missing in ${rules.fork}`)
  for (const [index, transaction] of transactions.entries()) {
    const reason = faultOf(transaction, rules, spec)
    if (reason !== undefined) throw refusal(`transactions[${index}]: ${reason}`)
  }
}

function faultOf(transaction: Transaction, rules: Rules, spec: ChainSpec): string | undefined {
  const { type, to, blobVersionedHashes, authorizationList } = transaction
  const { chainId } = spec
  const isKnown = type <= rules.maxTransactionType || addedType(type) !== undefined
  if (!isKnown || !familyOf(spec).transactionTypes.includes(type)) {
    return `transaction type not supported: type ${type} at ${rules.fork}`
  }
  const own = transaction.chainId
  if (own !== undefined && own !== chainId) return `invalid chain id for signer: have ${own} want ${chainId}`
  if (!to && (blobVersionedHashes || authorizationList)) return `a transaction of type ${type} cannot create a contract`
  return undefined
}

function refusal(reason: string): RpcError {
  return new RpcError(SERVER_ERROR, `${REFUSED}${reason}`)
}
