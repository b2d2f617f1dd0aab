/** Room: what is around the pages: the menu, the login and the moment. It imports only console. */

import { useSignal, useSignalEffect } from '@preact/signals'
import type { ComponentChildren, ComponentType } from 'preact'
import { useEffect, useErrorBoundary } from 'preact/hooks'
import { isReachable } from '../api/away.js'
import { loginNeeded } from '../api/request.js'
import { loadDefaultProject } from '../basics/default-project.js'
import { commandShortcut, commandText } from '../basics/keys.js'
import { Icon } from '../components/icon.js'
import { Busy, Empty, Refusal } from '../components/notice.js'
import { useHeading } from './heading.js'
import { JumpMenu, openJumpMenu } from './jump-menu.js'
import { asApiError, Outdated } from '../basics/loading.js'
import { isInSession, LogOut } from './log-out.js'
import { Login } from './login.js'
import { Moment } from './moment.js'
import { pageAt, sections } from './pages.js'
import { Unloaded } from './unloaded.js'
import { storageProblem } from '../basics/kept.js'
import { hrefOf, momentShown, place } from '../basics/place.js'
import type { PageProps } from '../basics/page-props.js'
import { nextTheme, theme } from '../basics/theme.js'

const isWithin = (section: string, path: string): boolean =>
  section === '/' ? path === '/' : path === section || path.startsWith(`${section}/`)

const Navigation = () => (
  <nav class="sections" aria-label="Sections">
    {sections.map(({ path, name, icon, also = [] }) => (
      <a
        key={path}
        href={hrefOf(path)}
        aria-current={[path, ...also].some((each) => isWithin(each, place.value.path)) ? 'page' : undefined}
      >
        <Icon name={icon} />
        <span>{name}</span>
      </a>
    ))}
  </nav>
)

const Header = () => (
  <header class="top">
    <a class="brand" href={hrefOf('/')}>
      Mindledger
    </a>
    <button type="button" class="jump" onClick={openJumpMenu} aria-keyshortcuts={commandShortcut('K')}>
      <Icon name="search" />
      <span>Jump to…</span>
      <kbd aria-hidden="true">{commandText('K')}</kbd>
    </button>
    <Moment />
    <button type="button" class="plain" onClick={nextTheme} title={`Theme: ${theme.value}`} aria-label={`Theme: ${theme.value}. Change it`}>
      <Icon name={theme.value} />
    </button>
    <LogOut />
  </header>
)

/** The page of a path. Its code is loaded once; an error of the page is shown in its place. */
const Shown = ({ path }: { path: string }) => {
  const found = pageAt(path)
  const page = useSignal<{ View: ComponentType<PageProps> } | undefined>(undefined)
  const failure = useSignal<unknown>(undefined)
  const [thrown, forget] = useErrorBoundary() as [unknown, () => void]
  useHeading()
  useEffect(() => {
    const load = async ({ page: { load: loadCode } }: NonNullable<typeof found>): Promise<void> => {
      await loadDefaultProject()
      const { default: View } = await loadCode()
      page.value = { View }
    }
    if (found) load(found).catch((error: unknown) => (failure.value = error))
  }, [])
  if (!found)
    return (
      <Empty title="There is no such page" isPage>
        <a href={hrefOf('/')}>Go to the first one</a>
      </Empty>
    )
  if (thrown !== undefined) return <Refusal error={asApiError(thrown)} again={forget} />
  if (failure.value !== undefined) return <Unloaded error={failure.value} />
  if (!page.value) return <Busy />
  const { View } = page.value
  return <View params={found.params} />
}

/** The page, and what is said of it as a whole. While a part of it shows the data of another moment or of other choices, it says so. */
const Content = ({ children }: { children: ComponentChildren }) => {
  const outdated = useSignal(0)
  const isOutdated = outdated.value > 0
  return (
    <main id="content" tabIndex={-1} aria-busy={isOutdated}>
      {isOutdated && (
        <p class="outdated" role="status">
          <span class="busy">Loading… Until then you see what was here before.</span>
        </p>
      )}
      <Outdated.Provider value={outdated}>{children}</Outdated.Provider>
    </main>
  )
}

/** The title of the browser tab: the section, and the resource if the address names one. */
const titleOf = (path: string): string => {
  const section = sections.find(({ path: of, also = [] }) => [of, ...also].some((each) => isWithin(each, path)))
  const { name } = pageAt(path)?.params ?? {}
  return [name, section?.name, 'Mindledger'].filter((part) => part !== undefined).join(' · ')
}

/** The frame around every page. */
export const Layout = () => {
  useSignalEffect(() => {
    document.title = titleOf(place.value.path)
  })
  const mustLogIn = loginNeeded.value
  if (mustLogIn && !isInSession.value) return <Login />
  const { path } = place.value
  // When the session runs out, the page waits behind the login with everything that was typed.
  return (
    <>
      {mustLogIn && <Login isAgain />}
      <div class="frame" hidden={mustLogIn}>
        <a class="skip" href="#content" onClick={(event) => (event.preventDefault(), document.getElementById('content')?.focus())}>
          Skip to the content
        </a>
        <Header />
        <Navigation />
        <Content>
          {!isReachable.value && (
            <p class="notice bad" role="alert">
              The service cannot be reached. It is tried again by itself. What you see may be old, and what you typed stays.
            </p>
          )}
          {storageProblem.value !== undefined && (
            <div class="notice" role="alert">
              <p>{storageProblem.value}</p>
              <button type="button" onClick={() => (storageProblem.value = undefined)}>
                I know
              </button>
            </div>
          )}
          {momentShown() !== undefined && pageAt(path)?.page.isOfNow && (
            <p class="notice" role="status">
              This page shows the present, and what is done here is done now. Other pages show the moment that you chose.
            </p>
          )}
          {/* State of one resource, such as the plan of a deletion, must not reach the page of another one. */}
          <Shown key={path} path={path} />
        </Content>
      </div>
      {!mustLogIn && <JumpMenu />}
    </>
  )
}
