/** Waiting requests by client. Clients take turns; a client's requests keep their order. */
interface FairQueue<J extends { readonly client: unknown }> {
  /** Number of waiting requests. */
  size(): number
  /** Number of clients with waiting requests. */
  clientCount(): number
  /** The clients, in the order of their turns. */
  clients(): Iterable<J['client']>
  /** Returns the oldest request of a client. */
  first(client: J['client']): J | undefined
  push(job: J): void
  /** Returns removed requests to the front of their clients' queues, in the order of `jobs`. */
  putBack(jobs: readonly J[]): void
  /** Removes and returns the next request of the first client that may have its turn; its next turn comes after all
   *  others'. Undefined if none may. */
  take(mayTake?: (client: J['client']) => boolean): J | undefined
  /** Removes a request; false if it is not in the queue. */
  remove(job: J): boolean
  /** Removes and returns all requests of a client. */
  takeAll(client: J['client']): J[]
  /** Removes and returns the newest request of the client with the most. */
  takeFromGreediest(): J | undefined
}

/** Creates an empty queue. */
export function createFairQueue<J extends { readonly client: unknown }>(): FairQueue<J> {
  const lists = new Map<J['client'], J[]>() // none is empty; in the order of their turns
  let size = 0

  const listOf = (client: J['client']) => {
    let list = lists.get(client)
    if (list === undefined) {
      list = []
      lists.set(client, list)
    }
    return list
  }
  const removed = (client: J['client'], list: J[]) => {
    size--
    if (list.length === 0) lists.delete(client)
  }
  return {
    size: () => size,
    clientCount: () => lists.size,
    clients: () => lists.keys(),
    first: (client) => lists.get(client)?.[0],
    push(job) {
      listOf(job.client).push(job)
      size++
    },
    putBack(jobs) {
      for (const job of jobs.toReversed()) listOf(job.client).unshift(job)
      size += jobs.length
    },
    take(mayTake) {
      for (const [client, list] of lists) {
        if (mayTake && !mayTake(client)) continue
        const job = list.shift()
        lists.delete(client)
        if (list.length > 0) lists.set(client, list)
        size--
        return job
      }
      return undefined
    },
    remove(job) {
      const list = lists.get(job.client)
      const at = list?.indexOf(job) ?? -1
      if (list === undefined || at < 0) return false
      list.splice(at, 1)
      removed(job.client, list)
      return true
    },
    takeAll(client) {
      const list = lists.get(client) ?? []
      lists.delete(client)
      size -= list.length
      return list
    },
    takeFromGreediest() {
      let most: J[] | undefined
      for (const list of lists.values()) if (list.length > (most?.length ?? 0)) most = list
      const job = most?.pop()
      if (most === undefined || job === undefined) return undefined
      removed(job.client, most)
      return job
    },
  }
}
