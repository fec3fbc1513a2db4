import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { formatData } from '../../../../src/lib/hex.js'
import {
  type BeaconBlock,
  bootstrapOf,
  finalityUpdateOf,
  optimisticUpdateOf,
  SLOTS_PER_PERIOD,
  updateOf,
} from './beaconChain.js'
import type { SyncCommittee } from './syncCommittee.js'

type After = { after(callback: () => void | Promise<void>): void }

/** The part of the beacon API that a light client asks for (ethereum/beacon-APIs). */
export interface BeaconApi {
  readonly url: string
  /** Paths of all requests, in order. */
  readonly requests: readonly string[]
  /** Makes a block the head, and notifies subscribers. */
  publish(block: BeaconBlock): void
}

/** Serves blocks from `checkpoint` on. It ends with the test. */
export async function serveBeaconApi(
  t: After,
  { committees, checkpoint }: { committees: (slot: number) => SyncCommittee; checkpoint: BeaconBlock },
): Promise<BeaconApi> {
  const blocks = new Map<string, BeaconBlock>()
  const subscribers = new Set<ServerResponse>()
  const requests: string[] = []
  let head = checkpoint
  const keep = (block: BeaconBlock) => {
    blocks.set(formatData(block.root), block)
    head = block
  }
  keep(checkpoint)

  const answer = (url: URL): unknown => {
    const [, , , , kind, id] = url.pathname.split('/')
    if (url.pathname.startsWith('/eth/v1/beacon/light_client/')) {
      const name = kind
      if (name === 'bootstrap') {
        const block = blocks.get(id)
        return block && versioned(bootstrapOf(committees, block))
      }
      if (name === 'optimistic_update') return versioned(optimisticUpdateOf(committees, head))
      if (name === 'finality_update') return versioned(finalityUpdateOf(committees, head))
      if (name === 'updates') return updates(Number(url.searchParams.get('start_period')), url)
    }
    if (url.pathname.startsWith('/eth/v1/beacon/headers/')) {
      const block = kind === 'head' ? head : blocks.get(kind)
      if (!block) return undefined
      const header = { message: block.header, signature: `0x${'00'.repeat(96)}` }
      return { finalized: false, data: { root: formatData(block.root), canonical: true, header } }
    }
    if (url.pathname.startsWith('/eth/v2/beacon/blocks/')) {
      const block = blocks.get(kind)
      if (!block) return undefined
      const { slot, proposer_index, parent_root, state_root } = block.header
      return versioned({ message: { slot, proposer_index, parent_root, state_root, body: block.body } })
    }
    return undefined
  }

  const updates = (start: number, url: URL): unknown => {
    const count = Number(url.searchParams.get('count'))
    return Array.from({ length: count }, (_, i) => {
      const inPeriod = [...blocks.values()].filter(({ slot }) => Math.floor(slot / SLOTS_PER_PERIOD) === start + i)
      return inPeriod.length > 0 ? versioned(updateOf(committees, inPeriod[0])) : undefined
    }).filter((each) => each !== undefined)
  }

  const server = createServer((request, response) => {
    const url = new URL(request.url!, 'http://localhost')
    requests.push(url.pathname)
    if (url.pathname === '/eth/v1/events') {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.flushHeaders()
      subscribers.add(response)
      response.on('close', () => subscribers.delete(response))
      return
    }
    const result = answer(url)
    response.writeHead(result === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(result ?? { code: 404, message: 'not found' }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const send = (event: string, data: unknown) => {
    for (const each of subscribers) each.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    publish: (block) => {
      keep(block)
      send('head', { slot: String(block.slot), block: formatData(block.root) })
      const finality = finalityUpdateOf(committees, block)
      if (finality) send('light_client_finality_update', versioned(finality))
      send('light_client_optimistic_update', versioned(optimisticUpdateOf(committees, block)))
    },
  }
}

const versioned = (data: unknown) => data && { version: 'electra', data }
