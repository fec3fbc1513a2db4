import { type Felt, formatFelt } from '../../../src/chain/starknet/felt.js'
import type {
  L2Block,
  L2Event,
  L2Prices,
  L2Receipt,
  L2StateDiff,
  L2Transaction,
} from '../../../src/chain/starknet/types.js'
import { toRpcJson } from './l2Blocks.js'

/* Layer-2 blocks as upstreams give them. */

const felts = (values: readonly Felt[]) => values.map(formatFelt)
const maybe = (value: Felt | undefined) => (value === undefined ? undefined : formatFelt(value))

/** The result of `starknet_getBlockWithReceipts`. Since 0.10 headers have commitments, since 0.8 receipts have gas. */
export function toRpcReceiptsJson(block: L2Block, minor: number): object {
  const header = toRpcHeaderJson(block, minor)
  const transactions = block.transactions!.map((transaction, i) => ({
    transaction: toTransactionJson(transaction),
    receipt: toRpcReceiptJson(block.receipts![i], minor),
  }))
  return { ...header, transactions }
}

/** The result of `starknet_getBlockWithTxs`. */
export function toRpcTxsJson(block: L2Block, minor: number): object {
  const transactions = block.transactions!.map((transaction) => ({
    transaction_hash: formatFelt(transaction.hash),
    ...toTransactionJson(transaction),
  }))
  return { ...toRpcHeaderJson(block, minor), transactions }
}

/** The result of `starknet_getBlockWithTxHashes`. */
export function toRpcHeaderJson(block: L2Block, minor: number): object {
  const json = toRpcJson(block) as Record<string, unknown>
  if (minor < 10) for (const name of Object.keys(json)) if (/commitment$|_count$|_length$/.test(name)) delete json[name]
  if (minor < 8) delete json.l2_gas_price
  return json
}

function toTransactionJson({ kind, signature }: L2Transaction): object {
  return { type: kind, version: '0x3', signature: felts(signature) }
}

/** The result of `starknet_getTransactionReceipt`. */
export function toRpcReceiptJson(receipt: L2Receipt, minor: number): object {
  const { gasConsumed, revertReason } = receipt
  const gas = gasConsumed && {
    l1_gas: Number(gasConsumed.l1Gas),
    l1_data_gas: Number(gasConsumed.l1DataGas),
    l2_gas: Number(gasConsumed.l2Gas),
  }
  return {
    type: 'INVOKE',
    transaction_hash: formatFelt(receipt.transactionHash),
    actual_fee: { amount: maybe(receipt.actualFee), unit: 'FRI' },
    execution_status: revertReason === undefined ? 'SUCCEEDED' : 'REVERTED',
    revert_reason: revertReason,
    finality_status: 'ACCEPTED_ON_L2',
    messages_sent: toMessages(receipt),
    events: receipt.events?.map(toEvent),
    execution_resources: minor >= 8 ? gas : { steps: 17 },
  }
}

const toEvent = ({ fromAddress, keys, data }: L2Event) => ({
  from_address: formatFelt(fromAddress),
  keys: felts(keys),
  data: felts(data),
})

const toMessages = ({ messages }: L2Receipt) =>
  messages.map(({ fromAddress, toAddress, payload }) => ({
    from_address: formatFelt(fromAddress),
    to_address: formatFelt(toAddress),
    payload: felts(payload),
  }))

/** The result of `starknet_getStateUpdate`. */
export function toRpcStateUpdateJson({ hash, newRoot, stateDiff }: L2Block): object {
  const { storage, nonces, deployedContracts, replacedClasses, declaredClasses, declaredLegacyClasses } = stateDiff!
  const migrated = stateDiff!.migratedClasses.map(toDeclared)
  return {
    block_hash: maybe(hash),
    new_root: maybe(newRoot),
    old_root: '0x0',
    state_diff: {
      storage_diffs: storage.map(({ address, entries }) => ({
        address: formatFelt(address),
        storage_entries: entries.map(({ key, value }) => ({ key: formatFelt(key), value: formatFelt(value) })),
      })),
      nonces: nonces.map(({ address, nonce }) => ({ contract_address: formatFelt(address), nonce: formatFelt(nonce) })),
      deployed_contracts: deployedContracts.map(toDeployed),
      replaced_classes: replacedClasses.map(({ address, classHash }) => ({
        contract_address: formatFelt(address),
        class_hash: formatFelt(classHash),
      })),
      declared_classes: declaredClasses.map(toDeclared),
      deprecated_declared_classes: felts(declaredLegacyClasses),
      ...(migrated.length === 0 ? {} : { migrated_compiled_classes: migrated }),
    },
  }
}

const toDeployed = ({ address, classHash }: L2StateDiff['deployedContracts'][0]) => ({
  address: formatFelt(address),
  class_hash: formatFelt(classHash),
})

const toDeclared = ({ classHash, compiledClassHash }: L2StateDiff['declaredClasses'][0]) => ({
  class_hash: formatFelt(classHash),
  compiled_class_hash: formatFelt(compiledClassHash),
})

/** The block as the feeder gateway gives it; without commitments as before 0.13.2. */
export function toFeederJson(block: L2Block, { commitments = true } = {}): object {
  const { prices, counts } = block
  const price = (wei: keyof L2Prices, fri: keyof L2Prices) => ({
    price_in_wei: maybe(prices[wei]) ?? '0x0',
    price_in_fri: maybe(prices[fri]) ?? '0x0',
  })
  return {
    status: block.status,
    block_hash: maybe(block.hash),
    parent_block_hash: maybe(block.parentHash),
    block_number: block.number,
    state_root: maybe(block.newRoot)?.slice(2),
    timestamp: block.timestamp,
    sequencer_address: maybe(block.sequencer),
    starknet_version: block.version,
    l1_da_mode: block.daMode,
    l1_gas_price: price('l1Wei', 'l1Fri'),
    l1_data_gas_price: price('l1DataWei', 'l1DataFri'),
    l2_gas_price: price('l2Wei', 'l2Fri'),
    ...(commitments && {
      state_diff_commitment: maybe(block.commitments.stateDiffCommitment),
      state_diff_length: counts.stateDiffLength,
    }),
    transactions: block.transactions?.map(({ hash, kind, signature }) => ({
      type: kind === 'INVOKE' ? 'INVOKE_FUNCTION' : kind,
      version: '0x3',
      transaction_hash: formatFelt(hash),
      signature: felts(signature),
    })),
    transaction_receipts: block.receipts?.map(toFeederReceiptJson),
  }
}

function toFeederReceiptJson(receipt: L2Receipt, index: number): object {
  const { gasConsumed, revertReason } = receipt
  return {
    transaction_index: index,
    transaction_hash: formatFelt(receipt.transactionHash),
    actual_fee: maybe(receipt.actualFee),
    execution_status: revertReason === undefined ? 'SUCCEEDED' : 'REVERTED',
    revert_error: revertReason,
    events: receipt.events?.map(toEvent),
    l2_to_l1_messages: toMessages(receipt),
    execution_resources: gasConsumed && {
      n_steps: 17,
      total_gas_consumed: {
        l1_gas: Number(gasConsumed.l1Gas),
        l1_data_gas: Number(gasConsumed.l1DataGas),
        l2_gas: Number(gasConsumed.l2Gas),
      },
    },
  }
}

/** The state update of the feeder gateway with its block. */
export function toFeederStateUpdateJson(block: L2Block): object {
  const { storage, nonces, deployedContracts, declaredClasses } = block.stateDiff!
  const state_diff = {
    storage_diffs: Object.fromEntries(
      storage.map(({ address, entries }) => [
        formatFelt(address),
        entries.map(({ key, value }) => ({ key: formatFelt(key), value: formatFelt(value) })),
      ]),
    ),
    nonces: Object.fromEntries(nonces.map(({ address, nonce }) => [formatFelt(address), formatFelt(nonce)])),
    deployed_contracts: deployedContracts.map(toDeployed),
    old_declared_contracts: [],
    declared_classes: declaredClasses.map(toDeclared),
    replaced_classes: [],
  }
  const update = { block_hash: maybe(block.hash), new_root: maybe(block.newRoot), old_root: '0x0', state_diff }
  return { block: toFeederJson(block, { commitments: false }), state_update: update }
}
