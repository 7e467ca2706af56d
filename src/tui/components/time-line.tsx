import { dayName } from '../../text/time.ts';
import type { TimeLineEntry } from '../state.ts';
import { List, type ListProps } from './list.tsx';

/** Changes, newest first: the day as a heading, the hour at the left edge, who and what beside it. */
export function TimeLine(props: ListProps<TimeLineEntry>) {
  return <List {...props} headingOf={({ change }) => dayName(new Date(change.before))} />;
}
