import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { formatData } from '../../src/lib/hex.js'
import { type Running, spawnProgram } from '../../test/support/cairn.js'
import type { BenchBlock } from '../../test/support/chains/logBlocks.js'
import { type BenchClient, makeCall, openClient } from '../lib/client.js'
import { requireAnvil } from '../lib/peers.js'
import { dispatcherCode, dispatcherInput, emitterCode } from './anvilCode.js'

/** An anvil that has executed the logs of blocks. Its block n + 1 has what our block n has: block 0 is its genesis. */
export interface Anvil {
  client: BenchClient
  version: string
  pid: number
  /** Milliseconds that executing the blocks took. */
  replayMs: number
  hashOf(blockNumber: number): Promise<string>
  stop(): Promise<void>
}

const CHAIN_ID = 31_337
const DISPATCHER = `0x${'d1'.repeat(20)}`
const GAS = 3_000_000
// Blocks per request when its logs are counted: about 10,000 logs.
const COUNTED_BLOCKS = 40

/** Starts anvil and has it execute the blocks, each with the same number of transactions, which log the same from the
 *  same addresses. Their hashes and those of the blocks are anvil's own.
 *  @param blocks makes the blocks again with each call
 *  @throws Error when it is not to be had, or an execution fails. */
export async function startAnvil(blocks: () => Iterable<BenchBlock>, directory: string): Promise<Anvil> {
  const genesis = join(directory, 'anvil-genesis.json')
  writeFileSync(genesis, JSON.stringify(makeGenesis(blocks())))
  // States of old blocks are no matter of logs: without them it needs a third of the memory.
  const args = ['--init', genesis, '--port', '0', '--no-mining', '--hardfork', 'cancun', '--prune-history']
  const running = spawnProgram(requireAnvil(), [
    ...args,
    '--gas-limit',
    '1000000000',
    '--base-fee',
    '0',
    '--order',
    'fifo',
  ])
  const stop = () => end(running)
  try {
    const [, address] = await running.waitFor('stdout', /Listening on (\S+)/)
    const client = openClient(`http://${address}`)
    await askAnvil(client, 'anvil_setLoggingEnabled', [false])
    const started = performance.now()
    const replayed = await replay(blocks(), client)
    const replayMs = performance.now() - started
    await requireLogs(client, replayed)
    return {
      client,
      version: String(await askAnvil(client, 'web3_clientVersion', [])),
      pid: running.child.pid!,
      replayMs,
      hashOf: async (number) => {
        const params = [`0x${(number + 1).toString(16)}`, false]
        return ((await askAnvil(client, 'eth_getBlockByNumber', params)) as { hash: string }).hash
      },
      stop: async () => {
        client.close()
        await stop()
      },
    }
  } catch (error) {
    await stop()
    throw error
  }
}

function makeGenesis(blocks: Iterable<BenchBlock>) {
  const code = formatData(emitterCode())
  const alloc: { [address: string]: { balance: string; code: string } } = {}
  for (const { logs } of blocks) {
    for (const { address } of logs) alloc[formatData(address)] ??= { balance: '0x0', code }
  }
  alloc[DISPATCHER] = { balance: '0x0', code: formatData(dispatcherCode()) }
  const zero = (bytes: number) => `0x${'00'.repeat(bytes)}`
  return {
    config: { chainId: CHAIN_ID },
    ...{ nonce: '0x0', timestamp: '0x1', extraData: '0x', gasLimit: '0x3b9aca00', difficulty: '0x0' },
    ...{ mixHash: zero(32), coinbase: zero(20), alloc },
  }
}

interface Replayed {
  blocks: number
  logs: number
}

async function replay(blocks: Iterable<BenchBlock>, client: BenchClient): Promise<Replayed> {
  const [from] = (await askAnvil(client, 'eth_accounts', [])) as string[]
  const replayed: Replayed = { blocks: 0, logs: 0 }
  let nonce = 0
  for (const { logs, receipts } of blocks) {
    const calls = receipts.map(({ logs }) => {
      const data = formatData(dispatcherInput(logs))
      const amounts = { gas: toHex(GAS), gasPrice: '0x0', nonce: toHex(nonce++) }
      return makeCall('eth_sendTransaction', [{ from, to: DISPATCHER, data, ...amounts }])
    })
    const { body } = await client.send(calls)
    const failed = (JSON.parse(body.toString()) as { error?: { message: string } }[]).find(({ error }) => error)
    if (failed) throw new Error(`anvil: eth_sendTransaction: ${failed.error?.message}`)
    await askAnvil(client, 'evm_mine', [])
    replayed.blocks++
    replayed.logs += logs.length
    process.stderr.write(`\ranvil: ${replayed.blocks} blocks `)
  }
  process.stderr.write('\n')
  return replayed
}

/** Checks that no transaction failed: anvil must have all the logs. */
async function requireLogs(client: BenchClient, { blocks, logs }: Replayed): Promise<void> {
  let found = 0
  for (let from = 1; from <= blocks; from += COUNTED_BLOCKS) {
    const to = from + COUNTED_BLOCKS - 1
    const { body } = await client.getLogs({ fromBlock: toHex(from), toBlock: toHex(Math.min(to, blocks)) })
    for (let at = body.indexOf('"logIndex"'); at !== -1; at = body.indexOf('"logIndex"', at + 1)) found++
  }
  if (found !== logs) throw new Error(`anvil: ${found} logs after executing ${logs}`)
}

async function askAnvil(client: BenchClient, method: string, params: unknown[]): Promise<unknown> {
  const { body } = await client.send(makeCall(method, params))
  const { result, error } = JSON.parse(body.toString())
  if (error) throw new Error(`anvil: ${method}: ${error.message}`)
  return result
}

async function end({ child, ended }: Running): Promise<void> {
  child.kill('SIGKILL')
  await ended
}

function toHex(value: number): string {
  return `0x${value.toString(16)}`
}
