import { dayName } from '../../text/time.ts';
import type { TimeLineEntry } from '../state.ts';
import { List, type ListProps } from './list.tsx';

/** Changes, the newest first, with the day as a heading. */
export function TimeLine(props: ListProps<TimeLineEntry>) {
  return <List {...props} headingOf={({ change }) => dayName(new Date(change.before))} />;
}
