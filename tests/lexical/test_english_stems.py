"""English stems against those that METEOR's program prints; test_meteor.py asks the program where there is Java."""

import pytest

from recapture.lexical.english_stems import english_stem
from recapture.lexical.stems import Stems

# word:stem, as `java -cp meteor-1.5.jar Stemmer en` prints them: words for every rule, and words whose stems changed in
# Snowball 3 (added, ebbed, geologist, interval, internally, organizations, emergent, laterally, pasting).
PRINTED = """
    caresses:caress ponies:poni ties:tie tie:tie gas:gas this:this kiwis:kiwi caress:caress happy:happi by:by say:say
    ski's:ski dogs':dog dog's:dog 'tis':tis agreed:agre feed:feed plastered:plaster bled:bled motoring:motor
    sing:sing hopping:hop hoping:hope hissing:hiss falling:fall added:ad ebbed:eb egging:eg erred:er odds:odd
    inning:inning innings:inning outing:outing proceeds:proceed luxuriating:luxuri fizzed:fizz hopefully:hope
    conditional:condit rational:ration valency:valenc hesitancy:hesit digitizer:digit conformably:conform
    radically:radic vilely:vile analogously:analog vietnamization:vietnam predication:predic operator:oper
    feudalism:feudal decisiveness:decis hopefulness:hope callousness:callous formality:formal sensitivity:sensit
    sensibility:sensibl geology:geolog geologist:geologist apologize:apolog triplicate:triplic formative:format
    formalize:formal electricity:electr electrical:electr goodness:good revival:reviv allowance:allow inference:infer
    airliner:airlin adjustable:adjust defensible:defens irritant:irrit replacement:replac adjustment:adjust
    dependent:depend adoption:adopt homologous:homolog communism:communism activate:activ angularity:angular
    effective:effect bowdlerize:bowdler probate:probat rate:rate cease:ceas controlling:control roll:roll
    generate:generat general:general generically:generic communication:communic community:communiti arsenal:arsenal
    arsenic:arsenic skies:sky skis:ski dying:die idly:idl gently:gentl singly:singl early:earli only:onli news:news
    howe:howe atlas:atlas cosmos:cosmos bias:bias andes:andes yes:yes youth:youth boyish:boyish sayings:say
    enjoying:enjoy flying:fli cry:cri crying:cri yyy:yyy intervals:interv interval:interv interfering:interf
    internally:intern organizations:organ organics:organ emergent:emerg laterally:later pasting:past evenly:even
    succeed:succeed succeeded:succeed exceedingly:exceed herrings:herring cannings:canning éclairs:éclair
    naïvely:naïv x'y's:x'i
"""


@pytest.mark.parametrize("printed", PRINTED.split())
def test_stems_are_those_of_the_program(printed):
    word, stem = printed.rsplit(":", 1)
    assert english_stem(word) == stem
    assert Stems("english")[word] == stem


@pytest.mark.parametrize("word", ["", "a", "is", "'s", "42", "日本語", "..."])
def test_what_has_no_ending_stays(word):
    assert english_stem(word) == word
