import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
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

// blsync drops events above one a second (beacon/light/request/server.go, maxServerEventRate).
const MS_PER_EVENT = 1_050

type After = { after(callback: () => void | Promise<void>): void }

/** The part of the beacon API that a light client asks for (ethereum/beacon-APIs). */
export interface BeaconApi {
  readonly url: string
  /** Paths of all requests, in order. */
  readonly requests: readonly string[]
  /** Makes a block the head, and notifies subscribers of it, and of its finalized block when that is another one. */
  publish(block: BeaconBlock): Promise<void>
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
    const [resource, id, root] = url.pathname.replace(/^\/eth\/v\d\/beacon\//, '').split('/')
    const block = id === 'head' ? head : blocks.get(root ?? id)
    if (resource === 'light_client') {
      if (id === 'bootstrap') return block && versioned(bootstrapOf(committees, block))
      if (id === 'optimistic_update') return versioned(optimisticUpdateOf(committees, head))
      if (id === 'finality_update') return versioned(finalityUpdateOf(committees, head))
      if (id === 'updates') return updates(url.searchParams)
    }
    if (resource === 'headers' && block) {
      const header = { message: block.header, signature: `0x${'00'.repeat(96)}` }
      return { finalized: false, data: { root: formatData(block.root), canonical: true, header } }
    }
    if (resource === 'blocks' && block) {
      const { slot, proposer_index, parent_root, state_root } = block.header
      return versioned({ message: { slot, proposer_index, parent_root, state_root, body: block.body } })
    }
    return undefined
  }

  const updates = (params: URLSearchParams): unknown => {
    const [start, count] = [Number(params.get('start_period')), Number(params.get('count'))]
    const first = (period: number) =>
      [...blocks.values()].find(({ slot }) => Math.floor(slot / SLOTS_PER_PERIOD) === period)
    return Array.from({ length: count }, (_, i) => first(start + i)).flatMap((each) =>
      each ? [versioned(updateOf(committees, each))] : [],
    )
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
    publish: async (block) => {
      const isFinalizing = block.finalized !== head.finalized
      if (subscribers.size > 0) await sleep(MS_PER_EVENT * (isFinalizing ? 3 : 2))
      keep(block)
      send('head', { slot: String(block.slot), block: formatData(block.root) })
      if (isFinalizing) send('light_client_finality_update', versioned(finalityUpdateOf(committees, block)))
      send('light_client_optimistic_update', versioned(optimisticUpdateOf(committees, block)))
    },
  }
}

const versioned = (data: unknown) => data && { version: 'electra', data }
