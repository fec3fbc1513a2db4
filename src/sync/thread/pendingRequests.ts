/** Requests to a thread that have no reply yet, by id. A message to a thread that has ended gets none. */
export class PendingRequests<Reply> {
  private readonly open = new Map<number, (reply: Reply) => void>()
  private lastId = 0

  /** Posts a request. Resolves with its reply, or with `late` after `timeoutMs`. */
  add(post: (id: number) => void, { timeoutMs, late }: { timeoutMs: number; late: Reply }): Promise<Reply> {
    return new Promise((resolve) => {
      const id = ++this.lastId
      const timer = setTimeout(() => this.settle(id, late), timeoutMs)
      this.open.set(id, (reply) => {
        clearTimeout(timer)
        this.open.delete(id)
        resolve(reply)
      })
      post(id)
    })
  }

  /** Resolves a request. Ignores one that was resolved before. */
  settle(id: number, reply: Reply): void {
    this.open.get(id)?.(reply)
  }

  /** Resolves all requests. */
  settleAll(reply: Reply): void {
    for (const settle of [...this.open.values()]) settle(reply)
  }
}
