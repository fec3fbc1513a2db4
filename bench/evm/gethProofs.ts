import assert from 'node:assert/strict'
import { formatData, formatQuantity } from '../../src/lib/hex.js'
import { accountAddress, VAULT } from '../../test/support/chains/stateChain.js'
import { resultOf } from '../../test/support/rpcClient.js'
import { makeCall } from '../lib/client.js'
import { formatRatio, printTable } from '../lib/table.js'
import { askInTurn, SERVER_HEADS, type Server, type ServerFigures, serverCells } from './askServer.js'
import { openGethPair } from './gethPair.js'
import type { EvmRun } from './options.js'

/** `eth_getProof` at a height, of Cairn and of geth: of each the round with the median rate. */
export interface GethProofFigures {
  blocksBehind: number
  cairn: ServerFigures
  geth: ServerFigures
}

const CONNECTIONS = 4
const SLOTS = 10
/** Heights that both have. geth keeps the states of 128 blocks. */
const BEHIND = [0, 1, 64, 127]
/** Answers that are compared at each height. */
const COMPARED = 50

/** Asks Cairn, which follows a full geth, and this geth for the same proofs: of an account of a large state, and of 10
 *  slots of a contract, in turn. Half of the accounts do not exist. @throws Error without geth, or when two answers
 *  differ */
export async function measureGethProofs(run: EvmRun): Promise<GethProofFigures[]> {
  const { accounts, seconds, warm, 'call-rounds': rounds, 'update-blocks': updateBlocks } = run.values
  const { cairn, geth, head, grown } = await run.once(openGethPair)
  const servers = { cairn, geth }
  const figures: GethProofFigures[] = []
  for (const blocksBehind of BEHIND.filter((behind) => behind < updateBlocks)) {
    process.stderr.write(`proofs ${blocksBehind} blocks behind\n`)
    const makeParams = paramsAt(formatQuantity(head - blocksBehind), { accounts, slots: grown * 1_000 })
    await compareAnswers(servers, makeParams)
    const ask = (n: number) => makeCall('eth_getProof', makeParams(n))
    const inTurn = { rounds, warmMs: warm * 1000 }
    const [ours, theirs] = await askInTurn([cairn, geth], { connections: CONNECTIONS, ask, seconds }, inTurn)
    figures.push({ blocksBehind, cairn: ours, geth: theirs })
  }
  return figures
}

/** Parameters of the n-th request: an account without slots, or the vault with 10 of them. */
type MakeParams = (n: number) => [address: string, slots: string[], block: string]

/** Requests for a block. Accounts and slots are spread over all of them. */
function paramsAt(block: string, { accounts, slots }: { accounts: number; slots: number }): MakeParams {
  return (n) => {
    if (n % 2 === 0) return [formatData(accountAddress((n * 7_919) % (2 * accounts))), [], block]
    return [VAULT, Array.from({ length: SLOTS }, (_, i) => formatQuantity((n * SLOTS + i * 7_919) % slots)), block]
  }
}

/** @throws Error when the servers answer one of some requests differently. */
async function compareAnswers({ cairn, geth }: { cairn: Server; geth: Server }, makeParams: MakeParams): Promise<void> {
  for (let n = 0; n < COMPARED; n++) {
    const params = makeParams(n)
    const answers = await Promise.all([cairn, geth].map(({ url }) => resultOf(url, 'eth_getProof', params)))
    assert.deepEqual(answers[0], answers[1], JSON.stringify(params))
  }
}

/** Prints the figures as a Markdown table. */
export function printGethProofs(figures: readonly GethProofFigures[]): void {
  printTable(
    ['eth_getProof, blocks behind', ...SERVER_HEADS, ...SERVER_HEADS.map((head) => `geth: ${head}`), 'ratio'],
    figures.map(({ blocksBehind, cairn, geth }) => [
      String(blocksBehind),
      ...[cairn, geth].flatMap(serverCells),
      formatRatio(cairn.perSecond / geth.perSecond),
    ]),
  )
}
