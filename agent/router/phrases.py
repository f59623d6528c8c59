"""General English: what several words mean together."""

from __future__ import annotations

import re
from typing import Final

# What several words mean together.
PHRASES: Final[tuple[tuple[str, str], ...]] = (
    (r"\bto[- ]dos?\b", "todo"),
    # What one has to do is a todo; how long one has to keep a receipt is none.
    (r"(?<!\bdo i )(?<!\bdo we )(?<!\bdo you )\b(?:have|need|got|ought) to\b", "todo"),
    (
        r"\b(?:have|need|got|left|supposed|remains) to (?:do|get done|finish)\b(?! (?:to|if|when|in|for|with|about)\b)",
        "todo",
    ),
    (r"\bgot on\b(?= (?:for |on )?(?:today|tomorrow|this|next|my|\w+day)\b)", "todo"),
    (
        r"\bshould i (?:be )?(?:do|doing|work on|working on|tackle|start with)\b(?: (?:first|next|now|today))+",
        "todo",
    ),
    (
        r"\b(?:what|everything|anything|all)(?: that)?(?: have| did)? (?:i|we)(?:'ve| have)?"
        r"(?: (?:already|just|recently|got))* (?:finish(?:ed)?|completed?|done|archived?|ticked off)\b(?! wrong)",
        "todo",
    ),
    (r"\b(?:jot|jotted|note|noted|write|wrote|written) (?:(?:this|that|it) )?down\b", "todo"),
    (
        r"\b(?:what|anything|everything)(?: else)?(?:'s| is| are)? (?:still )?"
        r"(?:outstanding|pending|unfinished|to be done)\b"
        r"|\b(?:did|have) (?:i|we) (?:already )?(?:finish|complete|do|done)(?:ed|d)? (?:everything|it all)\b",
        "todo",
    ),
    (r"\bnote to self\b|\bmake (?:me )?a (?:quick )?note (?:to|that)\b", "todo"),
    (
        r"\b(?:my|our) jobs\b|\bjobs (?:are |have i |do i have )?(?:left|for (?:today|tomorrow|this|next))\b"
        r"|\bwhat(?:'s| is) still (?:open|left|outstanding)\b",
        "todo",
    ),
    (r"\bmy list\b|\bthe list\b", "todo"),
    (r"\b(?:don't|dont|not|never|mustn't|can't|cannot) (?:let (?:me|us) )?forget\b", "todo"),
    (r"\bon (?:my|our) (?:plate|agenda)\b", "todo"),
    (r"\bpast (?:due|(?:its|their|the) (?:date|deadline))\b|\bare late\b", "due"),
    (r"\b(?:check|cross|strike)(?:ed)?(?: \S+){0,4} off\b", "completed"),
    (
        r"\b(?:is|are|was|been|got|'s) (?:now |all |already ){0,2}(?:sorted|dealt with|taken care of|handled|wrapped up|ticked off|out of the way)\b"
        r"|\ball done with\b",
        "completed",
    ),
    (r"\breg(?:istration)?\.? (?:no|number|nr)\b", "registration"),
    (r"\b(?:is|are) (?:\S+ ){1,6}(?:working|running|ok|okay|down)\b", "health"),
    (
        r"\bremember to\b|\bgotta\b|\b(?:my|our) agenda\b|\bjobs (?:have|do) i\b",
        "todo",
    ),
    (
        r"\b(?:archived?|completed?|finished|open|pending|overdue|urgent|outstanding) (?:items|ones|things|stuff|entries)\b"
        r"|\banything (?:urgent|pressing|important)\b|\bneeds? doing\b|\bbehind (?:on|with)\b"
        r"|\bwhat(?:'s| is) (?:coming up|up next)\b|\b(?:does )?my (?:day|week) (?:looks?|looking) like\b",
        "todo",
    ),
    (r"\b(?:cut (?:off|short)|truncated)\b", "shortened"),
    (r"\bthe (?:whole )?lot (?:about|on)\b", "whole"),
    (r"\bfamily tree\b|\bblood ?line\b|\b(?:mother|father|mum|dad) (?:and|of)\b", "lineage"),
    (
        r"\b(?:has|have|had|did)\b[^.?!]{0,60}\b(?:sired?|father(?:ed)?|mother(?:ed)?|lambed)\b(?! by)",
        "progeny",
    ),
    (r"\bcan(?:'t|not) afford\b", "costly"),
    (
        r"\b(?:hang|hangs|fit|fits|tie|ties) together\b|\bin common\b|\beach other\b|\bone another\b",
        "connect",
    ),
    (r"\bbig picture\b|\bbird's[- ]eye\b", "broad"),
    (r"\bacross (?:several|multiple|different|many)\b", "several"),
    (r"\bacross (?:all|our|the (?:whole|entire))\b", "whole"),
    (r"\ball about\b|\beverything (?:\w+ ){0,3}(?:about|on)\b", "whole"),
    (
        r"\b(?:full|complete|whole) (?:report|profile|story|picture|dossier|record|rundown)\b",
        "whole",
    ),
    (r"\bdouble[- ]check\b", "corrective"),
    (r"\bup to date\b", "updated"),
    (r"\bin one (?:go|call)\b|\ball in one place\b|\bat once\b|\ball information\b", "whole"),
    (r"\bhow (?:low|high|big|small|large)\b", "range"),
    # What stands in documents, and how it is to be found there.
    (
        r"\bconnect the dots\b|\bpiec(?:e|ing) together\b|\binterplay\b|\bhow (?:\S+ ){1,8}relates? to\b"
        r"|\btrac(?:e|ing) (?:the|how)\b",
        "connect",
    ),
    (
        r"\bword[- ]for[- ]word\b|\bexact(?:ly)? (?:wording|text|phrasing|words|terms?|names?|codes?)\b",
        "precise",
    ),
    (r"\btaken (?:together|as a whole)\b|\bas a whole\b|\beverything we have\b", "whole"),
    (r"\b(?:full|entire|whole|complete) (?:set|archive|library|collection|corpus)\b", "whole"),
    (
        r"\b(?:general|broad|overall) (?:trends?|patterns?|picture|view)\b|\btrends\b|\bin general\b|\bstands? out\b",
        "broad",
    ),
    (r"\b(?:keeps?|kept) (?:coming up|recurring)\b|\brecurr(?:ing|ent)\b", "theme"),
    (
        r"\b(?:cost|hurt) us\b|\bat stake\b|\b(?:high|big) stakes\b|\bcan(?:'t|not) (?:risk|be wrong|get (?:this|it) wrong)\b"
        r"|\b(?:has|have|must|needs) to be (?:right|correct)\b|\bmust be (?:right|correct)\b",
        "costly",
    ),
    (
        r"\b(?:double|cross|fact)[- ]?check|\bcheck(?:ed)? twice\b|\b(?:make|be|making) (?:absolutely )?(?:sure|certain)\b"
        r"|\bcareful\b|\bself[- ]correct|\b(?:how (?:good|well|relevant)) the (?:passages|sources|documents)\b"
        r"|\breliabl[ey]\b|\bverif(?:y|ied)\b",
        "corrective",
    ),
    (
        r"\b(?:every|each|all)(?: of)?(?: the| its| these| those)? (?:single )?"
        r"(?:bits?|tokens?|parts?|details?|aspects?|conditions?|constraints?|elements?|words?)\b",
        "part",
    ),
    # How a service does.
    (
        r"\b(?:document|doc|docs|knowledge ?base) (?:search|quer(?:y|ies)|retrieval)\b"
        r"|\bretrieval (?:is|are|seems|keeps|fail)",
        "pipeline",
    ),
    (
        r"\b(?:is|are|seems?) (?:\S+ ){0,6}(?:working|running|ok|okay|down|operational|healthy|broken|slow)\s*(?:[?.,;]|$)",
        "health",
    ),
    (r"\b(?:number|count|volume) of (?:\w+ ){0,2}(?:queries|questions|calls|requests)\b", "metric"),
    (
        r"\bhow (?:many|often)\b(?: \w+){0,3} (?:queries|questions|calls|requests|fail(?:ed)?|fails)\b",
        "metric",
    ),
    (
        r"\blatenc(?:y|ies)\b|\bhow (?:fast|slow)\b|\b(?:slow|fast)(?:er|est)\b|\bspeed\b",
        "response",
    ),
    (
        r"\bversus\b|\bvs\b|\b(?:slower|faster|better|worse) than\b|\bcompared (?:to|with)\b",
        "compare",
    ),
    # Animals and their kin.
    (r"\b(?:males?|females?) (?:born|in flock|of breed)\b", "animal"),
    (r"\brank(?:ed|ing)?\b.{0,30}\b(?:again|anew)\b|\border(?:ed)? anew\b", "rerank"),
    (r"\bwho (?:sired|fathered|mothered|bore|bred)\b|\bcame? from\b", "lineage"),
    (
        r"\bdid \S+ (?:sire|father|mother|produce|bear|throw)\b|\b(?:sired|produced|fathered) by\b"
        r"|\bha(?:s|ve) \S+ (?:sired|produced|thrown|fathered)\b|\bsons?\b|\bdaughters?\b|\byoung\b",
        "progeny",
    ),
    (
        r"\b(?:parents?|pedigree|ancest\w+|lineage|sire|dam|bloodline)\b[^.:]{0,15}\b(?:and|plus|as well as|along with|with) (?:\w+ ){0,2}"
        r"(?:offspring|progeny|lambs|children|descendants)\b"
        r"|\b(?:offspring|progeny|lambs|children|descendants)\b[^.:]{0,15}\b(?:and|plus|as well as|along with|with) (?:\w+ ){0,2}"
        r"(?:parents?|pedigree|ancest\w+|lineage|sire|dam|bloodline)\b",
        "whole",
    ),
    (
        r"\b(?:all|whatever|anything|everything)(?: that)? (?:you|nsip|we|they|it|there)(?:'ve| have| has|'s| is)?"
        r"(?: (?:got|know|knows|hold|holds|has|have|store|stores))*(?: (?:about|on|for|of))\b",
        "whole",
    ),
    (r"\b(?:kinds?|types?|sorts?|varieties) of (?:sheep|animals?|flocks?)\b", "breed"),
    (
        r"\bmin(?:imum)? (?:and|to|or|/) max(?:imum)?\b|\bbetween (?:what|which) (?:values?|limits?)\b",
        "range",
    ),
    (r"\bspread of\b|\bhow far (?:do|does|can)\b", "range"),
    (
        r"\bhow (?:old|current|fresh|recent|stale) (?:is|are)\b|\b(?:get|got|receive) new data\b",
        "updated",
    ),
    # What somebody has to do.
    (
        r"\b(?:ping|nudge|alert) me\b|\bon the agenda\b(?! (?:of|in|at))|\bsupposed to (?:be )?(?:do|doing|finish)"
        r"|\b(?:my|our) (?:workload|deadlines?|schedule|day|errands|chores)\b|\b(?:what|which|any) (?:\w+ )?deadlines?\b"
        r"|\b(?:left|still|remaining) to (?:do|be done)\b|\b(?:got|have|is there|there) (?:anything|something|much|a lot) on (?:for )?(?:today|tomorrow|this|next|\w+day)\b"
        r"|\bthings (?:i|we) (?:have|need|must|should|ought)\b",
        "todo",
    ),
)

_KINDS: Final = (
    r"(?:parents?|pedigree|ancest\w{1,6}|lineage|sires?|dams?|bloodline|family tree|grandparents?)",
    r"(?:offspring|progeny|lambs?|children|descendants|kids|young)",
    r"(?:details?|info|information|data|facts)",
)
_JOIN: Final = r"(?:,|\+|&|/|\band\b|\bplus\b|\balong with\b|\bas well as\b)"
_JOINED: Final = tuple(
    re.compile(rf"\b{one}\b\s?{_JOIN} ?(?:\w+ ){{0,3}}{other}\b")
    for one in _KINDS
    for other in _KINDS
    if one != other
)


def joins_kinds(lowered: str) -> bool:
    """Whether two or more kinds of what is known of one thing are asked for together."""
    return any(pattern.search(lowered) for pattern in _JOINED)
