import { hexToNumber, webSocket } from 'viem'
import { CallFailed, call, isOnline } from './rpc.js'
import { apiKey, keyProblem, socketEndpoint } from './session.js'
import { createStore } from './store.js'

/** The newest block that the server has reported; undefined before the first. */
export const newestBlock = createStore<number | undefined>(undefined)

/** How new blocks arrive. */
export const liveBy = createStore<'socket' | 'polling'>('polling')

const POLL_MS = 4_000
/** An offline server is polled more often: a user may be waiting for it. */
const POLL_OFFLINE_MS = 1_500
/** After a failure, a socket is retried once per this number of polls. */
const POLLS_PER_ATTEMPT = 4

/** Follows the chain's head with `eth_subscribe` over a WebSocket, else by polling. Runs until the page is closed. */
export function followHead(): void {
  let attempt = 0
  let polls = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  const restart = () => {
    attempt++
    polls = 0
    clearTimeout(timer)
    liveBy.set('polling')
    void poll(attempt)
  }
  const poll = async (own: number) => {
    if (keyProblem.get() === undefined && document.visibilityState === 'visible') await pollOnce()
    if (own !== attempt) return
    const isDue = isOnline.get() && keyProblem.get() === undefined && polls++ % POLLS_PER_ATTEMPT === 0
    if (isDue && (await subscribe(restart))) {
      if (own === attempt) liveBy.set('socket')
      return
    }
    if (own === attempt) timer = setTimeout(() => void poll(own), isOnline.get() ? POLL_MS : POLL_OFFLINE_MS)
  }
  apiKey.watch(restart)
  restart()
}

async function pollOnce(): Promise<void> {
  try {
    newestBlock.set(hexToNumber(await call<`0x${string}`>('eth_blockNumber')))
  } catch (error) {
    if (!(error instanceof CallFailed)) throw error
    // A database without layer-1 blocks returns an error; the page still works for layer 2.
  }
}

/** Subscribes to `newHeads`. Returns false if the server refuses. Calls `onEnd` once if the socket closes later. */
async function subscribe(onEnd: () => void): Promise<boolean> {
  const { value } = webSocket(socketEndpoint(), { reconnect: false, retryCount: 0 })({})
  if (value === undefined) return false
  let isOpen = true
  const end = async () => {
    if (!isOpen) return
    isOpen = false
    // viem caches a closed socket by its URL unless the client is closed.
    const client = await value.getRpcClient().catch(() => undefined)
    client?.close()
    onEnd()
  }
  try {
    await value.subscribe({
      params: ['newHeads'],
      onData: ({ result }) => newestBlock.set(hexToNumber((result as { number: `0x${string}` }).number)),
      onError: () => void end(),
    })
    return true
  } catch {
    if (!isOpen) return false
    isOpen = false
    const client = await value.getRpcClient().catch(() => undefined)
    client?.close()
    return false
  }
}
