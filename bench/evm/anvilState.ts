import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { GenesisAccount } from '../../src/chain/eth/genesis.js'
import { bigIntToFixedBytes, bytesToBigInt } from '../../src/lib/bytes.js'
import { formatData, formatQuantity } from '../../src/lib/hex.js'
import { spawnProgram } from '../../test/support/cairn.js'
import { makeCall, openClient } from '../lib/client.js'
import { requireAnvil } from '../lib/peers.js'

/** An anvil that holds accounts. */
export interface AnvilServer {
  url: string
  pid: number
  version: string
  stop(): Promise<void>
}

/** Starts anvil with the accounts, their code and storage as its genesis state.
 *  @throws Error when it is not to be had or does not start. */
export async function startAnvilWith(accounts: Iterable<GenesisAccount>, directory: string): Promise<AnvilServer> {
  const genesis = join(directory, 'anvil-state.json')
  writeFileSync(genesis, JSON.stringify(makeGenesis(accounts)))
  return startAnvilFrom(genesis, ['--gas-limit', '300000000', '--base-fee', '0'])
}

/** Starts anvil with a genesis in geth's format, by the rules of Cancun; it mines on demand. @throws Error as above */
export async function startAnvilFrom(genesis: string, args: readonly string[]): Promise<AnvilServer> {
  const fixed = ['--init', genesis, '--port', '0', '--no-mining', '--hardfork', 'cancun']
  const { child, ended, waitFor } = spawnProgram(requireAnvil(), [...fixed, ...args])
  const stop = async () => {
    child.kill('SIGKILL')
    await ended
  }
  try {
    const [, address] = await waitFor('stdout', /Listening on (\S+)/)
    const url = `http://${address}`
    const client = openClient(url)
    await client.send(makeCall('anvil_setLoggingEnabled', [false]))
    const { body } = await client.send(makeCall('web3_clientVersion', []))
    client.close()
    return { url, pid: child.pid!, version: JSON.parse(body.toString()).result, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

function makeGenesis(accounts: Iterable<GenesisAccount>) {
  const word = (bytes: Uint8Array) => formatData(bigIntToFixedBytes(bytesToBigInt(bytes), 32))
  const alloc: { [address: string]: object } = {}
  for (const { address, nonce, balance, code, storage } of accounts) {
    alloc[formatData(address)] = {
      balance: formatQuantity(balance),
      nonce: formatQuantity(nonce),
      code: formatData(code),
      storage: Object.fromEntries(storage.map(({ slot, value }) => [word(slot), word(value)])),
    }
  }
  const zero = (bytes: number) => `0x${'00'.repeat(bytes)}`
  return {
    config: { chainId: 31_337 },
    ...{ nonce: '0x0', timestamp: '0x1', extraData: '0x', gasLimit: '0x11e1a300', difficulty: '0x0' },
    ...{ mixHash: zero(32), coinbase: zero(20), alloc },
  }
}
