import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { JsonRpcProvider } from 'ethers'
import { createPublicClient, http } from 'viem'
import { chainConfig } from 'viem/op-stack'
import { WebSocket } from 'ws'
import { runCairn, runCairnOk, spawnCairn, startCairn } from '../support/cairn.js'
import { opAnswers, rollupConfigOf } from '../support/chains/op/opAnswers.js'
import { BLOCKS_PER_FORK, type RecordedObject, readOpChain } from '../support/chains/op/opChain.js'
import { ask, resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { until, untilBlockNumber } from '../support/until.js'
import { startScriptedUpstream } from '../support/upstream/scriptedUpstream.js'

/* The program follows a chain of the OP stack, through all forks, without state. */

const chain = readOpChain()
const { blocks, genesis } = chain
const answers = opAnswers(chain)
const HEAD = answers.head
const quantity = (number: number) => `0x${number.toString(16)}`
const CANYON = 2 * BLOCKS_PER_FORK + 1

const folder = temporaryDirectory({ after })
const rollup = join(folder, 'rollup.json')
writeFileSync(rollup, JSON.stringify(rollupConfigOf(chain)))
const genesisFile = join(folder, 'genesis.json')
writeFileSync(genesisFile, JSON.stringify(genesis))

const WITHOUT_STATE = ['--rollup-config', rollup, '--state', 'none']

/** What op-geth returns, without what Cairn cannot verify before Canyon: nonces of deposits, and contracts that they
 *  create. */
function expectedReceipt(receipt: RecordedObject, number: number): RecordedObject {
  if (number >= CANYON) return receipt
  const { depositNonce: _, ...rest } = receipt
  return receipt.type === '0x7e' ? { ...rest, contractAddress: null } : rest
}

/** op-geth leaves out a mint of zero only until it has written the block: the recording is from memory. */
function expectedTransaction(transaction: RecordedObject, number: number): RecordedObject {
  if (transaction.type !== '0x7e') return transaction
  const deposit = { mint: '0x0', ...transaction }
  return number < CANYON ? { ...deposit, nonce: '0x0' } : deposit
}

test('every block, transaction and receipt is served as op-geth returns it', async (t) => {
  const upstream = await startScriptedUpstream(answers)
  t.after(() => upstream.close())
  const datadir = temporaryDirectory(t)
  const args = ['--datadir', datadir, '--open', '--upstream', upstream.url, ...WITHOUT_STATE]
  const { url, stop } = await startCairn(t, args)
  await untilBlockNumber({ url }, HEAD)
  assert.ok(upstream.requests.flat().includes('debug_getRawReceipts'))
  for (const [number, { block, receipts }] of blocks.entries()) {
    const id = quantity(number)
    const { totalDifficulty, ...served } = await resultOf<RecordedObject>(url, 'eth_getBlockByNumber', [id, true])
    assert.equal(totalDifficulty, '0x0')
    const transactions = block.transactions.map((each) => expectedTransaction(each, number))
    assert.deepEqual(served, { ...block, transactions }, `block ${number}`)
    const expected = receipts.map((each) => expectedReceipt(each, number))
    assert.deepEqual(await resultOf(url, 'eth_getBlockReceipts', [id]), expected, `receipts of block ${number}`)
  }
  const { raw, rawReceipts } = blocks[HEAD]
  assert.equal(await resultOf(url, 'debug_getRawBlock', [quantity(HEAD)]), raw)
  assert.deepEqual(await resultOf(url, 'debug_getRawReceipts', [quantity(HEAD)]), rawReceipts)
  const logs = blocks.flatMap(({ receipts }) => receipts.flatMap((receipt) => receipt.logs as object[]))
  assert.deepEqual(await resultOf(url, 'eth_getLogs', [{ fromBlock: '0x0', toBlock: 'latest' }]), logs)
  const [{ from, nonce, hash }] = blocks[HEAD].block.transactions
  assert.equal(await resultOf(url, 'ots_getTransactionBySenderAndNonce', [from, nonce]), hash)
  // Some deposit had it before Canyon, where no receipt says which.
  assert.equal(await resultOf(url, 'ots_getTransactionBySenderAndNonce', [from, 0]), null)
  const fees = await resultOf<{ reward: string[][] }>(url, 'eth_feeHistory', ['0x10', 'latest', [0, 100]])
  assert.ok(fees.reward.every((rewards) => rewards.every((reward) => BigInt(reward) >= 0n)))
  await stop()

  await runCairnOk(['verify', '--datadir', datadir])
  await compareDeposits(t, datadir)
  const out = join(temporaryDirectory(t), 'transactions.ndjson')
  await runCairnOk(['export', '--datadir', datadir, '--out', out, 'transactions'])
  const rows = readFileSync(out, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual(
    rows.map(({ transaction_hash, transaction_type, nonce }) => [transaction_hash, transaction_type, Number(nonce)]),
    blocks.flatMap(({ block }, number) =>
      block.transactions
        .map((each) => expectedTransaction(each, number))
        .map(({ hash, type, nonce }) => [hash, Number(type), Number(nonce)]),
    ),
  )
})

/** Rows of a dataset, or of an SQL statement, of the chain. */
async function rowsOf(
  t: Parameters<typeof temporaryDirectory>[0],
  datadir: string,
  dataset: string,
): Promise<RecordedObject[]> {
  const out = join(temporaryDirectory(t), 'rows.ndjson')
  await runCairnOk(['export', '--datadir', datadir, '--out', out, dataset])
  return readFileSync(out, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

async function compareDeposits(t: Parameters<typeof temporaryDirectory>[0], datadir: string): Promise<void> {
  const all = blocks.flatMap(({ block, receipts }, number) =>
    block.transactions.map((transaction, index) => ({
      number,
      index,
      transaction: expectedTransaction(transaction, number),
      receipt: expectedReceipt(receipts[index], number),
    })),
  )
  const deposits = all.filter(({ transaction }) => transaction.type === '0x7e')
  const nonceOf = ({ number, transaction }: (typeof all)[number]) =>
    number < CANYON ? null : Number(transaction.nonce)
  const exported = await rowsOf(t, datadir, 'deposits')
  assert.deepEqual(
    exported.map((row) => [row.transaction_hash, row.source_hash, row.mint_string, row.nonce, row.success]),
    deposits.map((each) => [
      ...[each.transaction.hash, each.transaction.sourceHash, BigInt(each.transaction.mint as string).toString()],
      ...[nonceOf(each), each.receipt.status === '0x1'],
    ]),
  )
  assert.ok(exported.some(({ mint_string: mint }) => mint !== '0') && exported.some(({ nonce }) => nonce !== null))
  const fees = all.filter(({ receipt }) => receipt.l1Fee !== undefined)
  const quantityOf = (value: unknown) => (value === undefined ? null : Number(value))
  assert.deepEqual(
    (await rowsOf(t, datadir, 'l1-fees')).map((row) => [
      ...[row.block_number, row.transaction_index, Number(row.l1_fee), row.l1_fee_scalar],
      row.operator_fee_constant,
    ]),
    fees.map(({ number, index, receipt }) => [
      ...[number, index, Number(receipt.l1Fee), quantityOf(receipt.l1FeeScalar)],
      quantityOf(receipt.operatorFeeConstant),
    ]),
  )
  const statement = `SELECT block_number, transaction_index, source_hash, "from", "to", mint, value, nonce,
    is_system_transaction FROM v_deposits`
  const rows = JSON.parse(await runCairnOk(['sql', '--datadir', datadir, '--format', 'json', statement]))
  assert.deepEqual(
    rows.map((row: RecordedObject) => Object.values(row)),
    deposits.map((each) => {
      const { sourceHash, from, to, mint, value, isSystemTx = false } = each.transaction
      return [
        ...[each.number, each.index, sourceHash, from, to, BigInt(mint as string).toString()],
        ...[BigInt(value as string).toString(), nonceOf(each), Number(isSystemTx)],
      ]
    }),
  )
}

test('a chain named by its genesis begins at any block, from JSON, and clients read it', async (t) => {
  const upstream = await startScriptedUpstream(answers, {
    name: 'has no RLP',
    lacks: ['debug_getRawBlock', 'debug_getRawReceipts'],
  })
  t.after(() => upstream.close())
  const datadir = temporaryDirectory(t)
  const args = ['--genesis', genesisFile, '--state', 'none', '--from', '100', '--upstream', upstream.wsUrl]
  upstream.head = HEAD - 2
  const { url, socketUrl } = await startCairn(t, ['--datadir', datadir, '--open', ...args])
  await untilBlockNumber({ url }, HEAD - 2)
  const jovian = blocks[8 * BLOCKS_PER_FORK + 8]
  const userIndex = jovian.block.transactions.findIndex(({ type }) => type !== '0x7e')
  const [deposit, user] = [jovian.receipts[0], jovian.receipts[userIndex]]

  const viem = createPublicClient({
    chain: { ...chainConfig, id: 34_034, name: 'op', nativeCurrency: ETHER, rpcUrls: urls(url) },
    transport: http(url),
  })
  const receipt = await viem.getTransactionReceipt({ hash: user.transactionHash as `0x${string}` })
  assert.equal(receipt.l1Fee, BigInt(user.l1Fee as string))
  assert.equal(receipt.l1GasPrice, BigInt(user.l1GasPrice as string))
  const transaction = await viem.getTransaction({ hash: deposit.transactionHash as `0x${string}` })
  assert.equal(transaction.type, 'deposit')
  assert.equal(transaction.sourceHash, jovian.block.transactions[0].sourceHash)

  const provider = new JsonRpcProvider(url)
  t.after(() => provider.destroy())
  const ofEthers = await provider.getTransactionReceipt(deposit.transactionHash as string)
  assert.equal(ofEthers!.type, 126)
  assert.equal(ofEthers!.status, 1)
  assert.equal(
    (await provider.getBlock(HEAD - 3, true))!.prefetchedTransactions.length,
    blocks[HEAD - 3].receipts.length,
  )

  const socket = new WebSocket(socketUrl)
  await once(socket, 'open')
  const messages: { id?: number; params?: { result: RecordedObject } }[] = []
  socket.on('message', (data) => messages.push(JSON.parse(String(data))))
  for (const [id, params] of [['newHeads'], ['logs', {}]].entries()) {
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'eth_subscribe', params }))
  }
  await until(() => messages.length === 2)
  for (const number of [HEAD - 1, HEAD]) await upstream.announce(number)
  const added = blocks.slice(HEAD - 1)
  const logs = added.flatMap(({ receipts }) => receipts.flatMap((receipt) => receipt.logs as RecordedObject[]))
  await until(() => messages.length >= 2 + added.length + logs.length)
  const results: RecordedObject[] = messages.flatMap(({ params }) => (params ? [params.result] : []))
  const heads = results.filter(({ parentHash }) => parentHash !== undefined)
  assert.deepEqual(
    heads.map(({ hash, extraData, withdrawalsRoot, blobGasUsed }) => ({
      hash,
      extraData,
      withdrawalsRoot,
      blobGasUsed,
    })),
    added.map(({ block: { hash, extraData, withdrawalsRoot, blobGasUsed } }) => ({
      ...{ hash, extraData, withdrawalsRoot, blobGasUsed },
    })),
  )
  assert.deepEqual(
    results.filter(({ topics }) => topics !== undefined),
    logs,
  )
  socket.close()

  const below = await ask(url, 'eth_getBlockByNumber', ['0x63', false])
  assert.match(below.error!.message, /block 99 is not available/)
})

test('without the state of block 0 blocks are not executed, and another family is refused by name', async (t) => {
  const upstream = await startScriptedUpstream(answers)
  t.after(() => upstream.close())
  const sync = (args: readonly string[]) =>
    runCairn(['sync', '--datadir', temporaryDirectory(t), '--upstream', upstream.url, ...args])
  const executed = await sync(['--rollup-config', rollup])
  assert.match(executed.stderr, /--state execute: the state of block 0 is not known; --genesis FILE/)
  const { optimism: _, ...config } = genesis.config as { [key: string]: unknown }
  const known = Object.entries(config).filter(
    ([name]) => !/^(bedrock|regolith|canyon|ecotone|fjord|granite|holocene|isthmus|jovian|karst)/.test(name),
  )
  const ethereum = join(temporaryDirectory(t), 'genesis.json')
  writeFileSync(ethereum, JSON.stringify({ ...genesis, config: Object.fromEntries(known) }))
  const args = [
    '--datadir',
    temporaryDirectory(t),
    '--upstream',
    upstream.url,
    '--genesis',
    ethereum,
    '--state',
    'none',
  ]
  const { child, ended, waitFor } = spawnCairn(['sync', ...args])
  await waitFor('stderr', /type: expected one of Ethereum, the block has 126 \(0x7e\), a deposit of the OP stack/)
  child.kill('SIGTERM')
  await ended
  assert.match(
    (await sync(['--rollup-config', rollup, '--state', 'none', '--fork', 'prague=7'])).stderr,
    /--fork prague/,
  )
})

const ETHER = { name: 'Ether', symbol: 'ETH', decimals: 18 }
const urls = (url: string) => ({ default: { http: [url] } })
