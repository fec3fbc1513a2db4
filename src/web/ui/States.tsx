import type { ComponentChildren } from 'preact'
import type { CallFailed } from '../client/rpc.js'
import type { Request } from '../client/useRequest.js'

/** Shows that something is loading. */
function Loading({ what }: { what: string }) {
  return (
    <p class="state" role="status">
      <span class="spinner" aria-hidden="true" /> Loading {what} …
    </p>
  )
}

/** Shows that there is no data, and what to do. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="state empty">
      <strong>{title}</strong>
      {children !== undefined && <p>{children}</p>}
    </div>
  )
}

/** Shows what failed, and what to do. */
export function Failure({ error, retry }: { error: CallFailed; retry?: () => void }) {
  if (error.kind === 'key') return <Empty title="Nothing is shown without an API key">Give one above.</Empty>
  return (
    <div class="state failure" role="alert">
      <strong>{error.kind === 'offline' ? 'The server does not answer' : 'That did not work'}</strong>
      <p>
        {error.message}
        {error.code !== undefined && <span class="quiet"> (code {error.code})</span>}
      </p>
      {error.kind === 'offline' && <p>The page loads again by itself when the server is back.</p>}
      {retry !== undefined && error.kind === 'call' && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  )
}

/** Shows the result of a request, or its state. */
export function Loaded<T>(props: { request: Request<T>; what: string; children: (data: T) => ComponentChildren }) {
  const { request, what, children } = props
  if (request.data !== undefined) return <>{children(request.data)}</>
  if (request.error !== undefined) return <Failure error={request.error} retry={request.reload} />
  return <Loading what={what} />
}
